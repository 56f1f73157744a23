package secrets

import (
	"crypto/hmac"
	crand "crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"strings"
)

// minPlaceholderBits is how hard a placeholder is to guess at least.
const minPlaceholderBits = 64

const (
	digits  = "0123456789"
	lower   = "abcdefghijklmnopqrstuvwxyz"
	upper   = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	hexDown = digits + "abcdef"
	hexUp   = digits + "ABCDEF"
)

// prefixes say what kind of secret a value is, and are no part of what is secret
// about it. A longer one comes before its own beginning.
var prefixes = []string{
	"sk-ant-api03-", "sk-ant-", "sk-proj-", "sk-or-v1-", "sk-svcacct-", "sk-", "sk_live_", "sk_test_", "rk_live_", "rk_test_", "pk_live_", "pk_test_", "whsec_",
	"github_pat_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "glpat-", "glptt-", "gldt-",
	"xoxb-", "xoxp-", "xoxa-", "xoxe-", "xoxs-", "xapp-", "AKIA", "ASIA", "AIza", "ya29.", "GOCSPX-", "eyJ",
	"hf_", "npm_", "pypi-", "SG.", "dop_v1_", "shpat_", "lin_api_", "ntn_", "secret_", "gsk_", "xai-", "r8_", "tvly-", "pplx-", "dapi", "pat-", "key-",
}

func newKey() (key [32]byte) {
	_, _ = crand.Read(key[:]) // never fails
	return key
}

// Placeholder returns what a program is given in the place of a value, the same
// for as long as the store lives: text of its length and shape, with the
// prefix of a kind of secret, digits for digits, letters for letters and other
// characters as they are. It is longer where it could be guessed else, and it
// neither is nor holds the value.
func (s *Store) Placeholder(name, value string) string {
	mac := hmac.New(sha256.New, s.key[:])
	_, _ = mac.Write(binary.BigEndian.AppendUint64(nil, uint64(len(name))))
	_, _ = mac.Write([]byte(name + value))
	random := rand.New(rand.NewChaCha8([32]byte(mac.Sum(nil)))) // a strong generator, as its key is
	for {
		if made := placeholder(value, random); !strings.Contains(made, value) {
			return made
		}
	}
}

func placeholder(value string, random *rand.Rand) string {
	prefix := ""
	for _, known := range prefixes {
		if strings.HasPrefix(value, known) && len(value) >= len(known)+8 {
			prefix = known
			break
		}
	}
	rest := value[len(prefix):]
	hex := hexAlphabet(rest)
	nothing := strings.IndexFunc(rest, isLetterOrDigit) < 0
	made, known := []byte(prefix), 0.0
	for i := range len(rest) {
		alphabet := hex
		if alphabet == "" || !strings.Contains(alphabet, rest[i:i+1]) {
			alphabet = alphabetOf(rest[i])
		}
		if nothing { // else would be random
			alphabet = lower
		}
		c := rest[i]
		if alphabet != "" {
			c = alphabet[random.IntN(len(alphabet))]
			known += math.Log2(float64(len(alphabet)))
		}
		made = append(made, c)
	}
	for ; known < minPlaceholderBits; known += math.Log2(float64(len(lower))) {
		made = append(made, lower[random.IntN(len(lower))])
	}
	return string(made)
}

// hexAlphabet returns the alphabet of hexadecimal text, of which hyphens may be
// a part, or nothing.
func hexAlphabet(text string) string {
	for _, alphabet := range []string{hexDown, hexUp} {
		if strings.Trim(text, alphabet+"-") == "" && strings.Trim(text, digits+"-") != "" {
			return alphabet
		}
	}
	return ""
}

// alphabetOf returns that of a byte, or nothing where it is kept.
func alphabetOf(c byte) string {
	switch {
	case '0' <= c && c <= '9':
		return digits
	case 'A' <= c && c <= 'Z':
		return upper
	case 'a' <= c && c <= 'z', c >= 0x80: // of a character beyond ASCII, too
		return lower
	}
	return ""
}

func isLetterOrDigit(c rune) bool { return alphabetOf(byte(min(c, 0x80))) != "" }
