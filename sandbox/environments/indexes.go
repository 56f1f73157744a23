package environments

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// Indexes are where packages come from. They can hold credentials.
type Indexes struct {
	// Python is the index that uv asks, after those of Further.
	Python  string
	Further []string
	// Npm is the registry, and NpmSettings are lines of an .npmrc for it: scopes
	// with a registry of their own, and credentials.
	Npm         string
	NpmSettings []string
	// Hosts are those by which they are reached: "name", "name:port", or
	// "http://name" where that is without TLS. The user can name more.
	Hosts []string
}

// maxSettingsBytes bounds a file of settings.
const maxSettingsBytes = 1 << 20

// Places are where the settings of uv, pip and npm are.
type Places struct {
	Getenv func(name string) string
	// Home and Config are the user's home directory and the directory of
	// settings in it; System is "/etc".
	Home, Config, System string
}

// UserPlaces returns those of the user who runs this program.
func UserPlaces() Places {
	home, _ := os.UserHomeDir() // nothing is found then
	config, _ := os.UserConfigDir()
	return Places{Getenv: os.Getenv, Home: home, Config: config, System: "/etc"}
}

// FindIndexes returns the indexes that the user's own uv, which is at a path, pip and
// npm ask for what is wanted.
func FindIndexes(ctx context.Context, places Places, uv string, wanted Wanted) (found Indexes, err error) {
	var files []string
	if found.Python, found.Further = places.python(); found.Python == "" && uv != "" && len(wanted.Python) > 0 {
		if found.Python, err = defaultPython(ctx, uv); err != nil {
			return Indexes{}, err
		}
		files = fileHosts(ctx, found.Python)
	}
	if found.Npm, found.NpmSettings = places.npm(); found.Npm == "" && len(wanted.Npm) > 0 {
		if found.Npm, err = defaultNpm(ctx); err != nil {
			return Indexes{}, err
		}
	}
	for _, address := range append(found.python(), found.npm()...) {
		host, err := hostOf(address)
		if err != nil {
			return Indexes{}, err
		}
		found.Hosts = append(found.Hosts, host)
	}
	found.Hosts = append(found.Hosts, files...)
	slices.Sort(found.Hosts)
	found.Hosts = slices.Compact(found.Hosts)
	return found, nil
}

// python returns the addresses of the indexes of Python.
func (i Indexes) python() []string {
	return slices.DeleteFunc(append(slices.Clone(i.Further), i.Python), func(address string) bool { return address == "" })
}

// npm returns the addresses of the registries of npm.
func (i Indexes) npm() (all []string) {
	if i.Npm != "" {
		all = append(all, i.Npm)
	}
	for _, line := range i.NpmSettings {
		if name, address, _ := strings.Cut(line, "="); strings.HasSuffix(name, ":registry") {
			all = append(all, address)
		}
	}
	return all
}

// Of returns the addresses that are asked for what is wanted, without credentials.
func (i Indexes) Of(wanted Wanted) (all []string) {
	if len(wanted.Python) > 0 {
		all = append(all, i.python()...)
	}
	if len(wanted.Npm) > 0 {
		all = append(all, i.npm()...)
	}
	for at, address := range all {
		all[at] = bare(address)
	}
	return all
}

// hostOf returns what has to be reached for an address.
func hostOf(address string) (string, error) {
	parsed, err := url.Parse(address)
	if err != nil || parsed.Hostname() == "" || parsed.Scheme != "https" && parsed.Scheme != "http" {
		return "", fmt.Errorf("the package index %q is no https:// or http:// URL", bare(address))
	}
	if parsed.Scheme == "http" {
		return "http://" + parsed.Host, nil
	}
	return parsed.Host, nil
}

// bare returns an address without credentials.
func bare(address string) string {
	parsed, err := url.Parse(address)
	if err != nil {
		return "…"
	}
	parsed.User = nil
	return parsed.String()
}

// python returns the index, and those that are asked before it.
func (p Places) python() (index string, further []string) {
	uv, pip := p.uvSettings(), p.pipSettings()
	index = cmp.Or(p.Getenv("UV_DEFAULT_INDEX"), p.Getenv("UV_INDEX_URL"), uv.index(), p.Getenv("PIP_INDEX_URL"), pip["index-url"])
	for _, list := range []string{p.Getenv("UV_INDEX"), p.Getenv("UV_EXTRA_INDEX_URL"), strings.Join(uv.further(), " "), p.Getenv("PIP_EXTRA_INDEX_URL"), pip["extra-index-url"]} {
		for address := range strings.FieldsSeq(list) {
			if name, rest, named := strings.Cut(address, "="); named && !strings.Contains(name, ":") {
				address = rest // an index can have a name
			}
			if !slices.Contains(further, address) {
				further = append(further, address)
			}
		}
	}
	return index, further
}

// uvIndexes is what matters of a uv.toml.
type uvIndexes struct {
	IndexURL      string   `toml:"index-url"`
	ExtraIndexURL []string `toml:"extra-index-url"`
	Index         []struct {
		URL     string
		Default bool
	}
}

func (u uvIndexes) index() string {
	for _, index := range u.Index {
		if index.Default {
			return index.URL
		}
	}
	return u.IndexURL
}

func (u uvIndexes) further() (all []string) {
	for _, index := range u.Index {
		if !index.Default {
			all = append(all, index.URL)
		}
	}
	return append(all, u.ExtraIndexURL...)
}

func (p Places) uvSettings() (found uvIndexes) {
	for _, name := range []string{filepath.Join(p.Config, "uv", "uv.toml"), filepath.Join(p.System, "uv", "uv.toml")} {
		var read uvIndexes
		if _, err := toml.Decode(readSettings(name), &read); err == nil && (read.index() != "" || len(read.further()) > 0) {
			return read
		}
	}
	return found
}

// pipSettings returns those of pip, the user's before the system's.
func (p Places) pipSettings() map[string]string {
	settings := map[string]string{}
	names := []string{filepath.Join(p.System, "pip.conf"), filepath.Join(p.Home, ".pip", "pip.conf"), filepath.Join(p.Config, "pip", "pip.conf"), p.Getenv("PIP_CONFIG_FILE")}
	for _, name := range names {
		section, last := "", ""
		for line := range strings.Lines(readSettings(name)) {
			text := strings.TrimSpace(line)
			switch key, value, found := strings.Cut(text, "="); {
			case strings.HasPrefix(text, "["):
				section = strings.Trim(text, "[]")
			case text == "" || text[0] == '#' || text[0] == ';' || section != "global" && section != "install":
			case line[0] == ' ' || line[0] == '\t': // goes on
				settings[last] += " " + text
			case found:
				last = strings.ReplaceAll(strings.TrimSpace(key), "_", "-")
				settings[last] = strings.TrimSpace(value)
			}
		}
	}
	return settings
}

// npm returns the registry, and the lines about credentials and scopes.
func (p Places) npm() (registry string, settings []string) {
	registry = cmp.Or(p.Getenv("npm_config_registry"), p.Getenv("NPM_CONFIG_REGISTRY"))
	user := cmp.Or(p.Getenv("npm_config_userconfig"), p.Getenv("NPM_CONFIG_USERCONFIG"), filepath.Join(p.Home, ".npmrc"))
	for _, name := range []string{user, filepath.Join(p.System, "npmrc")} {
		lines := bufio.NewScanner(strings.NewReader(readSettings(name)))
		for lines.Scan() {
			key, value, found := strings.Cut(lines.Text(), "=")
			key, value = strings.TrimSpace(key), os.Expand(strings.Trim(strings.TrimSpace(value), `"'`), p.Getenv)
			switch {
			case !found || strings.ContainsAny(value, "\r\n"):
			case key == "registry":
				registry = cmp.Or(registry, value)
			case strings.HasPrefix(key, "//"), strings.HasPrefix(key, "@") && strings.HasSuffix(key, ":registry"):
				settings = append(settings, key+"="+value)
			}
		}
	}
	return registry, settings
}

// readSettings returns the text of a file, or nothing.
func readSettings(name string) string {
	file, err := os.Open(name)
	if name == "" || err != nil {
		return ""
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxSettingsBytes))
	if err != nil {
		return ""
	}
	return string(text)
}

// env returns the variables by which uv and npm know the indexes.
func (i Indexes) env() map[string]string {
	env := map[string]string{}
	if i.Python != "" {
		env["UV_DEFAULT_INDEX"] = i.Python
	}
	if i.Npm != "" {
		env["npm_config_registry"] = i.Npm
	}
	if len(i.Further) > 0 {
		env["UV_INDEX"] = strings.Join(i.Further, " ")
	}
	return env
}

// npmrc returns the settings of npm.
func (i Indexes) npmrc() string {
	if len(i.NpmSettings) == 0 {
		return ""
	}
	return strings.Join(i.NpmSettings, "\n") + "\n"
}

// redacted returns a text without the credentials of the indexes.
func (i Indexes) redacted(text string) string {
	for _, address := range append([]string{i.Python, i.Npm}, i.Further...) {
		parsed, err := url.Parse(address)
		if err != nil || parsed.User == nil {
			continue
		}
		secrets := []string{parsed.User.String(), parsed.User.Username()}
		if password, set := parsed.User.Password(); set {
			secrets = []string{parsed.User.String(), password, url.QueryEscape(password), url.PathEscape(password)}
		}
		text = without(text, secrets)
	}
	for _, line := range i.NpmSettings {
		if name, value, _ := strings.Cut(line, "="); strings.HasPrefix(name, "//") {
			text = without(text, []string{value})
		}
	}
	return text
}

func without(text string, secrets []string) string {
	for _, secret := range secrets {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "****")
		}
	}
	return text
}

// FindCertificates returns the file of certificates by which the user's own
// programs trust indexes, or the system's; empty for none.
func FindCertificates(places Places) string {
	for _, name := range []string{"SSL_CERT_FILE", "PIP_CERT", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS"} {
		if file := places.Getenv(name); file != "" {
			if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() {
				return file
			}
		}
	}
	for _, name := range []string{"ssl/certs/ca-certificates.crt", "pki/tls/certs/ca-bundle.crt", "ssl/cert.pem"} {
		file := filepath.Join(places.System, name)
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() {
			return file
		}
	}
	return ""
}
