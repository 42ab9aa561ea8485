import Foundation

// HeartRateBelt: a belt until it is stopped.
let belt = HeartRateBelt()
belt.start()
RunLoop.main.run()
