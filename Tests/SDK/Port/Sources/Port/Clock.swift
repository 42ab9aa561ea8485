import Foundation

/// The events of a clock: "@objc" in a comment or a string stays.
@objc public protocol ClockDelegate {
  @objc func ticked(_ clock: Clock)
  @objc optional func ended(_ clock: Clock, reason: String)
  @objc optional func paused()
}

/// A clock.
@objc(BLEDClock)
@objcMembers
public class Clock: NSObject {
  /// Its name.
  public static let name = "@objc #selector(clock)"
  weak var delegate: ClockDelegate?
  private var timers: [Timer] = []
  private(set) var log: [String] = []

  /// Starts it.
  @objc public func start() {
    NotificationCenter.default.addObserver(
      self, selector: #selector(stopped(_:)), name: Notification.Name("stop"), object: nil)
    timers.append(
      Timer.scheduledTimer(
        timeInterval: 0.01, target: self, selector: #selector(self.tick(_:)), userInfo: nil, repeats: false))
    let timer = Timer(timeInterval: 0.02, target: self, selector: #selector(Clock.tock), userInfo: nil, repeats: false)
    RunLoop.main.add(timer, forMode: .common)
    // Real time: timers fire in order, however late.
    let late = Timer(
      fireAt: Date(timeIntervalSinceNow: 0.03), interval: 1, target: self, selector: #selector(tock), userInfo: nil,
      repeats: false)
    RunLoop.main.add(late, forMode: .common)
    Thread(target: self, selector: #selector(work), object: nil).start()
    perform(#selector(add(text:)), with: "performed", afterDelay: 0.04)
  }

  @objc private func tick(_ timer: Timer) {
    log.append("tick \(timer.timeInterval)")
    delegate?.ticked(self)
  }

  @objc private func tock() { log.append("tock") }

  @objc private func work() {
    DispatchQueue.main.async { NotificationCenter.default.post(name: Notification.Name("stop"), object: nil) }
  }

  @objc
  private func add(text: String) {
    log.append(text)
    delegate?.ended?(self, reason: "over")
  }

  @objc private func stopped(_ notification: Notification) { log.append(notification.name.rawValue) }
}
