package access

import "github.com/skills-mcp/skills-mcp/internal/audit"

// Record notes for the audit log what a run had and used.
func (r Report) Record(record *audit.Record) {
	if g := r.Granted; g != nil {
		note := func(what string, list []string) {
			for _, each := range list {
				record.Granted = append(record.Granted, what+" "+each)
			}
		}
		note("host", g.Network)
		note("secret", g.Secrets)
		note("plain secret", g.PlainSecrets)
		note("show", g.Show)
		if g.Packages != "" {
			record.Granted = append(record.Granted, "packages "+g.Packages)
		}
	}
	for _, asked := range r.Asked {
		record.Asked = append(record.Asked, asked.Host+" "+asked.word())
	}
	if r.Used == nil {
		return
	}
	record.SecretsSent, record.HostsOmitted = r.Used.Secrets, r.Used.HostsOmitted
	for _, host := range r.Used.Hosts {
		record.Hosts = append(record.Hosts, audit.Host{
			Host: host.Host, Port: host.Port, Requests: host.Requests, Refused: host.Refused, Reason: string(host.Reason), Bytes: host.Bytes,
		})
	}
}
