#!/usr/bin/env perl
# SPDX-License-Identifier: Apache-2.0
#
# version_script.pl --ordinals FILE ...: prints the linker's version script for the symbols that FILE lists, a line each:
# name, number, version (3_0_0), "EXIST:...". The crate openssl-src, which builds static libraries, leaves out
# OpenSSL's own program for that, util/mkdef.pl; this one stands in for it on Linux.
use strict;
use warnings;

my %option = @ARGV;
my %symbols;
open my $list, '<', $option{'--ordinals'} or die "cannot read $option{'--ordinals'}: $!";
while (<$list>) {
  my ($name, undef, $version, $state) = split;
  push @{$symbols{$version}}, $name if defined $state && $state =~ /^EXIST:/;
}
my $before = '';
for my $version (sort keys %symbols) {
  my $node = 'OPENSSL_' . $version =~ tr/_/./r;
  print "$node {\n  global:\n", map { "    $_;\n" } @{$symbols{$version}};
  print "  local: *;\n" unless $before;
  print "}$before;\n";
  $before = " $node";
}
