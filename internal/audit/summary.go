package audit

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Summary sums records up.
type Summary struct {
	// Skill is what they have in common; empty for those about no skill.
	Skill string `json:"skill"`
	// Calls is how many there are, and Runs how many of them ran a program to
	// an end.
	Calls int `json:"calls"`
	Runs  int `json:"runs"`
	// Failed, Denied and Unfinished are how many had that outcome.
	Failed     int `json:"failed"`
	Denied     int `json:"denied"`
	Unfinished int `json:"unfinished"`
	// DurationMs is how long all took together, in milliseconds.
	DurationMs float64 `json:"durationMs"`
	// Last is the time of the newest.
	Last time.Time `json:"last"`
	// Hosts are what became of what programs asked of each host, by name and port.
	// HostsOmitted is how many requests there were for further ones.
	Hosts        []Host `json:"hosts,omitempty"`
	HostsOmitted int    `json:"hostsOmitted,omitempty"`
	// SecretsSent are the names of secrets that were sent, sorted.
	SecretsSent []string `json:"secretsSent,omitempty"`
}

// maxSummedHosts bounds the hosts of a sum: programs choose what they ask for.
const maxSummedHosts = 1000

// Add adds another sum.
func (s *Summary) Add(other Summary) {
	s.Calls += other.Calls
	s.Runs += other.Runs
	s.Failed += other.Failed
	s.Denied += other.Denied
	s.Unfinished += other.Unfinished
	s.DurationMs += other.DurationMs
	if other.Last.After(s.Last) {
		s.Last = other.Last
	}
	s.HostsOmitted += other.HostsOmitted
	for _, host := range other.Hosts {
		s.addHost(host)
	}
	for _, name := range other.SecretsSent {
		if i, found := slices.BinarySearch(s.SecretsSent, name); !found {
			s.SecretsSent = slices.Insert(s.SecretsSent, i, name)
		}
	}
}

func (s *Summary) addHost(host Host) {
	i, found := slices.BinarySearchFunc(s.Hosts, host, func(a, b Host) int { return cmp.Or(cmp.Compare(a.Host, b.Host), cmp.Compare(a.Port, b.Port)) })
	switch {
	case found:
		known := &s.Hosts[i]
		known.Requests, known.Refused, known.Bytes = known.Requests+host.Requests, known.Refused+host.Refused, known.Bytes+host.Bytes
		known.Reason = cmp.Or(host.Reason, known.Reason)
	case len(s.Hosts) >= maxSummedHosts:
		s.HostsOmitted += host.Requests + host.Refused
	default:
		s.Hosts = slices.Insert(s.Hosts, i, host)
	}
}

// summaryOf returns the sum of one record.
func summaryOf(r Record) Summary {
	sum := Summary{Calls: 1, DurationMs: r.DurationMs, Last: r.Time, Hosts: r.Hosts, HostsOmitted: r.HostsOmitted, SecretsSent: r.SecretsSent}
	if r.Status != "" {
		sum.Runs = 1
	}
	switch r.Outcome {
	case Failed:
		sum.Failed = 1
	case Denied:
		sum.Denied = 1
	case Unfinished:
		sum.Unfinished = 1
	}
	return sum
}

// Summaries sums records up by their skills.
type Summaries struct{ bySkill map[string]*Summary }

// Add adds a record.
func (s *Summaries) Add(r Record) {
	if s.bySkill == nil {
		s.bySkill = map[string]*Summary{}
	}
	sum := s.bySkill[r.Skill]
	if sum == nil {
		sum = &Summary{Skill: r.Skill}
		s.bySkill[r.Skill] = sum
	}
	sum.Add(summaryOf(r))
}

// List returns the sums, those of most calls first.
func (s *Summaries) List() []Summary {
	list := []Summary{}
	for sum := range maps.Values(s.bySkill) {
		list = append(list, *sum)
	}
	slices.SortFunc(list, func(a, b Summary) int {
		return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Skill, b.Skill))
	})
	return list
}
