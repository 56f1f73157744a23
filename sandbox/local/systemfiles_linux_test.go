//go:build amd64 || arm64

package local

import (
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/sandbox"
)

// secrets are files of /etc and /var that systems keep secrets in, or that tell
// of hosts and users, also where others may read them.
var secrets = []string{
	"/etc/shadow", "/etc/gshadow", "/etc/passwd", "/etc/group", "/etc/hosts", "/etc/hostname", "/etc/machine-id",
	"/etc/resolv.conf", "/etc/fstab", "/etc/crypttab", "/etc/exports", "/etc/environment", "/etc/profile.d/x.sh",
	"/etc/ssh/ssh_host_rsa_key", "/etc/ssl/private/x.key", "/etc/pki/tls/private/x.key", "/etc/letsencrypt/live/x/privkey.pem",
	"/etc/sudoers", "/etc/sudoers.d/x", "/etc/pam.d/x", "/etc/security/opasswd", "/etc/krb5.keytab", "/etc/sssd/sssd.conf",
	"/etc/pip.conf", "/etc/npmrc", "/etc/gitconfig", "/etc/wgetrc", "/etc/curlrc", "/etc/netrc", "/etc/apt/auth.conf",
	"/etc/maven/settings.xml", "/etc/gemrc", "/etc/R/Renviron.site", "/etc/R/Rprofile.site", "/etc/docker/daemon.json", "/etc/kubernetes/admin.conf", "/etc/rancher/x",
	"/etc/mysql/debian.cnf", "/etc/postgresql/x", "/etc/odbc.ini", "/etc/my.cnf", "/etc/php/8.2/cli/php.ini", "/etc/php/8.2/mods-available/x.ini",
	"/etc/postfix/sasl_passwd", "/etc/msmtprc", "/etc/ppp/chap-secrets", "/etc/wireguard/x", "/etc/openvpn/x",
	"/etc/NetworkManager/system-connections/x", "/etc/wpa_supplicant/x", "/etc/cron.d/x", "/etc/systemd/system/x.service", "/etc/default/x",
	"/etc/boto.cfg", "/etc/s3cfg", "/etc/ansible/hosts", "/etc/salt/x", "/etc/puppet/x", "/etc/cups/printers.conf", "/etc/samba/smb.conf",
	"/var/lib/docker/x", "/var/lib/mysql/x", "/var/lib/postgresql/x", "/var/lib/private/x", "/var/lib/systemd/x", "/var/lib/sss/x",
	"/var/lib/jenkins/x", "/var/lib/dpkg/status", "/var/cache/debconf/passwords.dat", "/var/log/syslog", "/var/mail/x", "/var/spool/cron/x", "/var/www/x",
}

// What is shown of /etc and /var is named one by one, and no secret.
func TestSystemFilesAreNoSecrets(t *testing.T) {
	for _, pattern := range systemFiles {
		if strings.Count(pattern, "/") < 2 || filepath.Clean(pattern) != pattern || strings.Contains(filepath.Dir(pattern), "*") {
			t.Errorf("%s is too much", pattern)
		}
		for _, secret := range secrets {
			for above := secret; above != "/"; above = path.Dir(above) {
				if matches, err := path.Match(pattern, above); matches || err != nil {
					t.Errorf("%s shows %s, %v", pattern, secret, err)
				}
			}
		}
	}
}

// Of the packages that this machine has, programs find the settings.
func TestSystemFilesAreThere(t *testing.T) {
	var names []string
	for _, pattern := range systemFiles {
		matches, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range matches {
			if _, err := os.Stat(name); err == nil { // no link that leads nowhere
				names = append(names, name)
			}
		}
	}
	for _, tier := range []Tier{Full, Restricted} {
		backend, err := New(t.Context(), Options{Tier: tier})
		if err != nil {
			t.Fatal(err)
		}
		defer backend.Close()
		result, err := backend.Run(t.Context(), sandbox.Spec{
			Shell:     `for name in $NAMES; do if [ -d "$name" ]; then ls "$name"; else head -c1 "$name"; fi > /dev/null || echo "$name"; done`,
			Workspace: t.TempDir(), Env: map[string]string{"NAMES": strings.Join(names, " ")},
		})
		if err != nil || len(result.Stdout.Data) > 0 {
			t.Errorf("%s: programs do not see %s, %s, %v", tier, result.Stdout.Data, result.Stderr.Data, err)
		}
	}
}
