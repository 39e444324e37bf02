package service

import "purveyor/internal/commerce"

// checkAlarmAddresses makes addresses as they are stored, and refuses what is none. A list of
// empty ones is an empty list.
func checkAlarmAddresses(list []string) (checked []string, err error) {
	for _, text := range list {
		if text == "" {
			continue
		}
		address, valid := checkAddress(text)
		if !valid {
			return nil, commerce.Invalid("alarm-address", "alarm-address must be e-mail addresses, and %q is none", text)
		}
		checked = append(checked, address)
	}
	return checked, nil
}
