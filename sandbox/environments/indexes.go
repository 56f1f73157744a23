package environments

// Indexes are where packages come from.
type Indexes struct {
	// Python and Npm are the URLs of the two indexes, which can hold credentials.
	Python, Npm string
	// Hosts are the hosts that they are reached by: "name", "name:port", or
	// "http://name" where it is asked without TLS.
	Hosts []string
}
