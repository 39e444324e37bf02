package courier

const trackPath = "/sandbox/track/"
