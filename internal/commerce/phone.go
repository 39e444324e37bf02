package commerce

import "strings"

// E164 is the international form of a phone number. Ten digits are taken as a number of the
// United States.
func E164(phone string) (string, bool) {
	digits := strings.Map(func(r rune) rune {
		if strings.ContainsRune(" -.()", r) {
			return -1
		}
		return r
	}, phone)
	digits, international := strings.CutPrefix(digits, "+")
	if strings.Trim(digits, "0123456789") != "" {
		return "", false
	}
	switch n := len(digits); {
	case international && n >= 8 && n <= 15 && digits[0] != '0':
		return "+" + digits, true
	case !international && n == 10 && digits[0] > '1':
		return "+1" + digits, true
	case !international && n == 11 && digits[0] == '1':
		return "+" + digits, true
	}
	return "", false
}
