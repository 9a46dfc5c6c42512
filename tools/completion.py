# SPDX-License-Identifier: Apache-2.0
"""Makes completion for bash, zsh and fish from the tree that `polykem help --json` prints. See program_docs.py."""

HEAD = "# SPDX-License-Identifier: Apache-2.0\n# Written by tools/program_docs.py.\n"


def walk(command):
    yield command
    for child in command["commands"]:
        yield from walk(child)


def quote(text):
    return "'" + text.replace("'", "'\\''") + "'"


def is_list(option):
    """Returns whether the option's argument is a list with commas."""
    return option["argument"] == "NAMES" or "," in (option["argument"] or "")


def below(program):
    """Returns every command but the program itself."""
    return [command for command in walk(program) if command is not program]


BASH = """_polykem() {
  local cur=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} path=polykem words= kept= i
  COMPREPLY=()
  if [[ $cur == = ]]; then
    cur=
  elif [[ $before == = ]]; then
    before=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case "$path ${COMP_WORDS[i]}" in
      @COMMANDS@) path+=" ${COMP_WORDS[i]}" ;;
    esac
  done
  case "$path $before" in
@ARGUMENTS@
  esac
  case $path in
@PATHS@
  esac
  if [[ $cur == -* || -z $words ]]; then
    words=$options
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
  if [[ -n $files && $cur != -* ]]; then
    mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$cur")
  fi
}
complete -o filenames -F _polykem polykem
"""


def bash_argument(command, option):
    """Returns the case of bash's function that completes an option's argument."""
    pattern = " | ".join(quote(f"{command['usage']} {name}") for name in option["names"])
    lines = []
    if option["file"]:
        lines.append('mapfile -t COMPREPLY < <(compgen -f -- "$cur")')
    elif option["values"]:
        if is_list(option):
            lines.append('[[ $cur != *,* ]] || kept="${cur%,*},"')
        values = quote(" ".join(option["values"]))
        lines.append(f'mapfile -t COMPREPLY < <(compgen -P "$kept" -W {values} -- "${{cur##*,}}")')
    return "\n      ".join([f"    {pattern})", *lines, "return", ";;"])


def bash(program):
    arguments, paths = [], []
    for command in walk(program):
        arguments += [bash_argument(command, option) for option in command["options"] if option["argument"]]
        options = " ".join(name for option in command["options"] for name in option["names"])
        words = " ".join(child["name"] for child in command["commands"])
        files = "yes" if any(p["file"] for p in command["positionals"]) else ""
        paths.append(f"    {quote(command['usage'])}) local options={quote(options)} files={files}\n"
                     f"      words={quote(words)} ;;")
    text = BASH.replace("@COMMANDS@", " | ".join(quote(c["usage"]) for c in below(program)))
    return HEAD + text.replace("@ARGUMENTS@", "\n".join(arguments)).replace("@PATHS@", "\n".join(paths))


ZSH = """_polykem() {
  local at=1 path_=polykem i
  for ((i = 2; i < CURRENT; ++i)); do
    case "$path_ ${words[i]}" in
      (@COMMANDS@) path_+=" ${words[i]}"; at=$i ;;
    esac
  done
  words=("${(@)words[at,-1]}")
  ((CURRENT -= at - 1))
  case $path_ in
@PATHS@
  esac
}
_polykem "$@"
"""


def zsh_argument(option):
    if option["argument"] is None:
        return ""
    name = option["argument"].replace(":", "\\:")
    if option["file"]:
        return f":{name}:_files"
    if option["values"]:
        values = " ".join(option["values"])
        return f":{name}:_sequence compadd - {values}" if is_list(option) else f":{name}:({values})"
    return f":{name}: "


def zsh_option(option):
    text = option["description"].replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")
    group = f"({' '.join(option['names'])})" if len(option["names"]) > 1 else ""
    return [quote(f"{group}{name}[{text}]{zsh_argument(option)}") for name in option["names"]]


def zsh(program):
    paths = []
    for command in walk(program):
        specs = [spec for option in command["options"] for spec in zsh_option(option)]
        if command["commands"]:
            specs.append(quote(f"1:command:({' '.join(child['name'] for child in command['commands'])})"))
        specs += [quote("*:file:_files") for positional in command["positionals"] if positional["file"]]
        paths.append(f"    ({quote(command['usage'])}) _arguments \\\n      " + " \\\n      ".join(specs) + " ;;")
    text = ZSH.replace("@COMMANDS@", "|".join(quote(c["usage"]) for c in below(program)))
    return "#compdef polykem\n" + HEAD + text.replace("@PATHS@", "\n".join(paths))


FISH = """set -g __polykem_commands @COMMANDS@

# Succeeds if the words before the cursor are those of this command.
function __polykem_at
    set -l path polykem
    for word in (commandline -opc)[2..]
        if contains -- "$path $word" $__polykem_commands
            set path "$path $word"
        end
    end
    test "$path" = "$argv"
end

complete -c polykem -f
"""


def fish_quote(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def fish(program):
    lines = []
    for command in walk(program):
        at = f"complete -c polykem -n {fish_quote('__polykem_at ' + command['usage'])}"
        for child in command["commands"]:
            lines.append(f"{at} -a {child['name']} -d {fish_quote(child['description'])}")
        for option in command["options"]:
            names = " ".join(f"-l {n[2:]}" if n.startswith("--") else f"-s {n[1:]}" for n in option["names"])
            takes = "" if option["argument"] is None else " -r -F" if option["file"] else " -x"
            values = f" -a {fish_quote(' '.join(option['values']))}" if option["values"] else ""
            lines.append(f"{at} {names}{takes}{values} -d {fish_quote(option['description'])}")
        if any(positional["file"] for positional in command["positionals"]):
            lines.append(f"{at} -F")
    commands = " ".join(fish_quote(c["usage"]) for c in below(program))
    return HEAD + FISH.replace("@COMMANDS@", commands) + "\n".join(lines) + "\n"
