import Foundation

// HeartRateBelt: a belt until it is stopped.
setvbuf(stdout, nil, _IOLBF, 0)
let belt = HeartRateBelt()
belt.start()
RunLoop.main.run()
