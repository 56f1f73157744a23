package paths

import "sync"

// hiddenGroups are what programs do not see. The table in docs/project.md is held
// to it by a test.
var hiddenGroups = []group{
	{
		reason: "holds secrets of an environment",
		names:  []string{".env", ".env.*", ".env-*", ".env_*", ".envrc", ".envrc.*", ".flaskenv", ".dev.vars", ".dev.vars.*"},
		except: []string{"*.example", "*.sample", "*.template", "*-example", "*-sample", "*-template", "*_example", "*_sample", "*_template"},
		copies: true,
	},
	{
		reason: "is a private key",
		names: []string{
			"id_rsa", "id_dsa", "id_ecdsa", "id_ecdsa_sk", "id_ed25519", "id_ed25519_sk", "id_xmss",
			"*.key", "*.p8", "*.p12", "*.pfx", "*.pkcs12", "*.ppk", "*.pvk", "*.jks", "*.keystore", "*.kdb", "*.kdbx", "*.agekey", "secring.*",
			"ssh_host_*_key",
		},
		except: []string{"*.pub.key", "*public.key"},
		copies: true,
	},
	{
		reason: "may be a private key",
		names:  []string{"*.pem"},
		// What everybody may have, by the names that it usually has. Virtual
		// environments have their certificates in cacert.pem.
		except: []string{
			"ca.pem", "*-ca.pem", "*_ca.pem", "ca-*.pem", "ca_*.pem", "*cacert*.pem", "*cert.pem", "*certs.pem", "*certificate.pem",
			"*certificates.pem", "*chain.pem", "*bundle.pem", "*roots.pem", "*public.pem", "*pub.pem", "*public_key.pem", "*public-key.pem",
			"*pubkey.pem", "*dhparam.pem", "*dhparams.pem", "*crl.pem", "*csr.pem",
		},
		copies: true,
	},
	{
		reason: "holds passwords or tokens",
		names: []string{
			".netrc", "_netrc", ".npmrc", ".pypirc", ".git-credentials", ".git/credentials", ".git/config.worktree.lock", ".git/config.lock",
			".hg/hgrc", ".config/git/credentials",
			".dockercfg", ".docker/config.json", ".dockerconfigjson", ".pgpass", "pgpass.conf", ".my.cnf", ".mylogin.cnf", ".htpasswd",
			".vault-token", ".vault_pass", ".vault_pass.txt", ".vault-password", ".s3cfg", ".boto", ".passwd-s3fs", ".cargo/credentials",
			".cargo/credentials.toml", ".gem/credentials", ".m2/settings.xml", ".m2/settings-security.xml", ".composer/auth.json",
			".claude/.credentials.json", ".codex/auth.json", ".gemini/oauth_creds.json", ".streamlit/secrets.toml", ".terraformrc",
			"terraform.rc", "credentials.tfrc.json", "rclone.conf", ".rclone.conf", ".databrickscfg", ".snowsql", ".kaggle/kaggle.json",
			".huggingface/token", ".subversion/auth", ".fetchmailrc", ".msmtprc", ".mbsyncrc", ".smbcredentials", "client_secret*.json",
			"credentials.json", "*service-account*.json", "*service_account*.json", "*serviceaccount*.json",
			"application_default_credentials.json",
		},
		except: []string{"*example*", "*sample*", "*template*"},
		copies: true,
	},
	{
		reason: "is where credentials are kept",
		names: []string{
			".aws", ".azure", ".config/gcloud", ".gcloud", ".kube", ".ssh", ".gnupg", ".oci", ".aliyun", ".bluemix", ".tencentcloud", ".linode-cli",
			".config/gh", ".config/glab-cli", ".config/hub", ".config/doctl", ".config/op", ".config/rclone", ".config/sops", ".config/age",
			".config/linode-cli", ".config/hcloud", ".config/scw", ".config/stripe", ".config/heroku", ".config/containers/auth.json",
			".password-store", ".local/share/keyrings", ".fly", ".ngrok2", ".terraform.d", ".cloudflared", ".acme.sh",
		},
	},
	{
		reason: "shows clusters and their credentials",
		names:  []string{"kubeconfig", "*.kubeconfig", "kubeconfig.yaml", "kubeconfig.yml"},
		copies: true,
	},
	{
		reason: "is Terraform's state, which holds secrets as they are",
		names:  []string{"*.tfstate", "*.tfstate.*", "terraform.tfstate.d"},
		copies: true,
	},
}

// hiddenRules are compiled when they are first asked: processes that never ask are started
// for every run.
var hiddenRules = sync.OnceValue(func() ruleset { return compile(hiddenGroups) })
