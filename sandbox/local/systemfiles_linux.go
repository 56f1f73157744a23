//go:build amd64 || arm64

package local

import (
	"github.com/skills-mcp/skills-mcp/sandbox/internal/scratch"
	"github.com/skills-mcp/skills-mcp/sandbox/local/internal/jail"
)

// systemDirs hold the system's programs and libraries, and nothing of a user.
var systemDirs = []string{
	"/bin", "/gnu/store", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/sbin", "/usr",
}

// systemFiles are what of /etc and /var programs need: nothing that holds a
// secret, or that commonly names hosts, users or accounts. What programs link
// to from /usr must be here, or they do not start. Patterns are those of
// [filepath.Glob].
var systemFiles = []string{
	// The system's libraries and tools.
	"/etc/X11/rgb.txt", "/etc/alternatives", "/etc/ca-certificates", "/etc/crypto-policies", "/etc/inputrc", "/etc/ld.so.cache",
	"/etc/locale.alias", "/etc/localtime", "/etc/magic", "/etc/magic.mime", "/etc/mime.types", "/etc/os-release",
	"/etc/pki/ca-trust/extracted", "/etc/pki/tls/certs", "/etc/pki/tls/openssl.cnf", "/etc/protocols", "/etc/services", "/etc/sgml",
	"/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/terminfo", "/etc/xml",
	// Languages. Those of R that are a site's own may hold tokens.
	"/etc/R/Makeconf", "/etc/R/Renviron", "/etc/R/ldpaths", "/etc/R/repositories", "/etc/java-*", "/etc/perl", "/etc/python3*",
	// Documents, images, typesetting and plots.
	"/etc/ImageMagick-*", "/etc/aspell", "/etc/dictionaries-common", "/etc/fonts", "/etc/ghostscript", "/etc/gnuplot", "/etc/graphviz",
	"/etc/groff", "/etc/libpaper.d", "/etc/libreoffice", "/etc/mailcap", "/etc/mecabrc", "/etc/octave*", "/etc/papersize",
	"/etc/paperspecs", "/etc/texmf", "/etc/vulkan",
	"/var/cache/fontconfig", "/var/lib/aspell", "/var/lib/dictionaries-common", "/var/lib/ghostscript", "/var/lib/libreoffice",
	"/var/lib/mecab", "/var/lib/texmf", "/var/spool/libreoffice",
}

// ownFiles are files of /etc that would tell about the machine, or need not.
var ownFiles = []jail.File{
	{Path: "/etc/passwd", Content: "root:x:0:0:root:/root:/usr/sbin/nologin\n" +
		"sandbox:x:1000:1000:sandbox:" + private + "/" + scratch.Home + ":/bin/sh\n" +
		"nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n"},
	{Path: "/etc/group", Content: "root:x:0:\nsandbox:x:1000:\nnogroup:x:65534:\n"},
	{Path: "/etc/hosts", Content: "127.0.0.1 localhost sandbox\n::1 localhost\n"},
	// Some C libraries ask a name server all the same, and wait for it.
	{Path: "/etc/resolv.conf", Content: "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n"},
	{Path: "/etc/nsswitch.conf", Content: "passwd: files\ngroup: files\nhosts: files\n"},
}
