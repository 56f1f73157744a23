package egress

// Reason is why something was refused: a code that stays the same.
type Reason string

// The reasons.
const (
	NotGranted    Reason = "not_granted"     // no rule allows this host, port and scheme
	Denied        Reason = "denied"          // the user was asked, and it was not allowed
	InvalidHost   Reason = "invalid_host"    // no name of a host: an address, or what no resolver may see
	PrivateHost   Reason = "private_address" // the name has only addresses that are not granted
	ForbiddenHost Reason = "forbidden"       // the name has an address that is never reached
	NotTLS        Reason = "not_tls"         // something else than TLS where only TLS is granted
	WrongName     Reason = "wrong_name"      // TLS or a request inside of it names another host
	HiddenName    Reason = "hidden_name"     // TLS encrypts which host it asks for
	Untrusted     Reason = "untrusted"       // the program did not accept the proxy's certificate for a host of a secret
	BadRequest    Reason = "bad_request"     // neither HTTP nor SOCKS5, or a method of them that is not served
	TooMuch       Reason = "limit"           // Grant.MaxBytes or Grant.MaxRequests is used up
	Unreachable   Reason = "unreachable"     // the name is not found, or nothing answers there
	NoSecret      Reason = "secret"          // the value of a secret cannot be had, or cannot be put there
	Revoked       Reason = "revoked"         // the session was closed
)
