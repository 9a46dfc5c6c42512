// SPDX-License-Identifier: Apache-2.0

// Command client fetches a page with crypto/tls as it comes, and says in JSON which group was negotiated:
// client PORT CERTIFICATE.
package main

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
)

func main() {
	if err := fetch(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func fetch(port, certificate string) error {
	pem, err := os.ReadFile(certificate)
	if err != nil {
		return err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	connection, err := tls.Dial("tcp", "localhost:"+port, &tls.Config{RootCAs: roots})
	if err != nil {
		return err
	}
	defer connection.Close()
	io.WriteString(connection, "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
	answer, err := io.ReadAll(connection)
	if err != nil {
		return err
	}
	_, page, _ := strings.Cut(string(answer), "\r\n\r\n")
	return json.NewEncoder(os.Stdout).Encode(map[string]string{
		"group": connection.ConnectionState().CurveID.String(),
		"page":  page,
	})
}
