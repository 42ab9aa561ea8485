import Foundation

// HeartRateBelt: a belt that runs until it is stopped.
let belt = HeartRateBelt()
belt.start()
RunLoop.main.run()
