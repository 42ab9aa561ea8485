import Foundation

final class Listener: NSObject, ClockDelegate {
  func ticked(_ clock: Clock) { print("ticked") }
  func ended(_ clock: Clock, reason: String) {
    print(reason, clock.log.sorted(), Clock.name)
    exit(0)
  }
}

let (clock, listener) = (Clock(), Listener())
clock.delegate = listener
clock.start()
RunLoop.main.run()
