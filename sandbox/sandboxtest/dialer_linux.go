package sandboxtest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// dialerName is the name by which a test binary knows that it is to be a program
// that connects, instead of to test.
const dialerName = "grant-dialer"

// exitRefused is the exit code of one that cannot connect.
const exitRefused = 3

// dialTimeout is for addresses that do not answer. No case waits for it where a
// sandbox holds.
const dialTimeout = 3 * time.Second

// dialer does one of what these programs do.
func dialer(what, address string, arguments []string) int {
	var err error
	switch what {
	case "ask":
		err = ask(address, arguments)
	case "reach":
		for _, target := range append([]string{address}, arguments...) {
			if network, address, _ := strings.Cut(target, " "); reaches(network, address) {
				fmt.Println(target)
			}
		}
	case "hold", "leave":
		err = hold(address, arguments[0])
		if err == nil && what == "hold" {
			forever()
		}
	case "flood":
		err = flood(address, arguments[0])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return exitRefused
	}
	return 0
}

// forever waits to be killed, in the kernel: Go's runtime ends a program of which
// every goroutine waits for another.
func forever() {
	for {
		unix.Poll(nil, -1)
	}
}

// ask says lines, and prints the answer to each.
func ask(address string, lines []string) error {
	connection, err := net.DialTimeout("tcp", address, patience)
	if err != nil {
		return err
	}
	defer connection.Close()
	answers := bufio.NewReader(connection)
	for _, line := range lines {
		if _, err := fmt.Fprintln(connection, line); err != nil {
			return err
		}
		answer, err := answers.ReadString('\n')
		if err != nil {
			return err
		}
		fmt.Print(answer)
	}
	return nil
}

// reaches reports whether somebody is at an address. A packet that the kernel
// has a way for is one that left.
func reaches(network, address string) bool {
	connection, err := net.DialTimeout(network, address, dialTimeout)
	if err != nil {
		return false
	}
	defer connection.Close()
	if !strings.HasPrefix(network, "udp") {
		return true
	}
	if !strings.Contains(address, "127.") && !strings.Contains(address, "[::1]") {
		return true
	}
	connection.SetDeadline(time.Now().Add(dialTimeout))
	if _, err := connection.Write([]byte("out")); err != nil {
		return false
	}
	_, err = connection.Read(make([]byte, 8))
	return err == nil
}

// held are connections that must not be closed because nothing uses them.
var held []net.Conn

// hold opens connections, says something on each and waits until the first was
// answered.
func hold(address, count string) error {
	n, err := strconv.Atoi(count)
	if err != nil {
		return err
	}
	for i := range n {
		connection, err := net.DialTimeout("tcp", address, patience)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintln(connection, "held", i); err != nil {
			return err
		}
		held = append(held, connection)
		if i > 0 {
			continue
		}
		if _, err := io.ReadFull(connection, make([]byte, 1)); err != nil {
			return err
		}
	}
	return os.WriteFile("held", nil, 0o600)
}

// flood opens connections without waiting for any, as many at once as a process
// may, and asks once more when all are closed.
func flood(address, count string) error {
	n, err := strconv.Atoi(count)
	if err != nil {
		return err
	}
	to, err := net.ResolveTCPAddr("tcp4", address)
	if err != nil {
		return err
	}
	at := &unix.SockaddrInet4{Port: to.Port, Addr: [4]byte(to.IP.To4())}
	var open []int
	for range n {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_NONBLOCK, 0)
		if errors.Is(err, unix.EMFILE) && len(open) > 0 {
			unix.Close(open[0])
			open = open[1:]
			fd, err = unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_NONBLOCK, 0)
		}
		if err != nil {
			return err
		}
		unix.Connect(fd, at) // it waits with the kernel
		open = append(open, fd)
	}
	for _, fd := range open {
		unix.Close(fd)
	}
	return ask(address, []string{"after all"})
}
