package signin

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"strings"
	"time"

	"purveyor/internal/env"

	"github.com/pquerna/otp"
	"github.com/pquerna/otp/totp"
	"rsc.io/qr"
)

// period is how long a code is shown, in seconds.
const period = 30

// NewSecret draws the secret of a second factor, in base32.
func NewSecret(e env.Env) string {
	var b [20]byte
	e.Read(b[:])
	return base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(b[:])
}

// Step returns the time step of a code of the secret: that of now, the one before or the next
// one, because clocks differ. 0: the code belongs to another step, or is wrong.
func Step(secret, code string, now time.Time) int64 {
	code = strings.ReplaceAll(strings.TrimSpace(code), " ", "")
	for _, shift := range []int64{0, -1, 1} {
		step := now.Unix()/period + shift
		ok, err := totp.ValidateCustom(code, secret, time.Unix(step*period, 0), totp.ValidateOpts{Period: period, Digits: otp.DigitsSix, Algorithm: otp.AlgorithmSHA1})
		if ok && err == nil {
			return step
		}
	}
	return 0
}

// KeyURL is the secret as an app reads it from a picture.
func KeyURL(secret, issuer, account string) string {
	key, err := totp.Generate(totp.GenerateOpts{Issuer: issuer, AccountName: account, Secret: decoded(secret), Period: period, Digits: otp.DigitsSix, Algorithm: otp.AlgorithmSHA1})
	if err != nil {
		return "" // the issuer and the account are not empty
	}
	return key.URL()
}

func decoded(secret string) []byte {
	b, _ := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(secret) // it was made here
	return b
}

// Picture is a text as a QR code: rows of modules, which are dark or not.
func Picture(text string) [][]bool {
	code, err := qr.Encode(text, qr.M)
	if err != nil {
		return nil // the text is too long
	}
	rows := make([][]bool, code.Size)
	for y := range rows {
		rows[y] = make([]bool, code.Size)
		for x := range rows[y] {
			rows[y][x] = code.Black(x, y)
		}
	}
	return rows
}

// recoveryCodes is how many codes a user gets.
const recoveryCodes = 10

// RecoveryCodes draws codes that stand for a code of the second factor, once each, with the
// digests that are stored of them.
func RecoveryCodes(e env.Env) (codes, digests []string) {
	for range recoveryCodes {
		text := strings.ToLower(e.Text()[:16])
		codes = append(codes, text[:4]+"-"+text[4:8]+"-"+text[8:12]+"-"+text[12:])
		digests = append(digests, RecoveryDigest(text))
	}
	return codes, digests
}

// RecoveryDigest is what is stored of a recovery code as it was typed.
func RecoveryDigest(code string) string {
	code = strings.Map(func(r rune) rune {
		if r == '-' || r == ' ' {
			return -1
		}
		return r
	}, strings.ToLower(strings.TrimSpace(code)))
	sum := sha256.Sum256([]byte(code))
	return hex.EncodeToString(sum[:])
}
