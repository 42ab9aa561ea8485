import Bluetooth
import Testing

@testable import Controllers

struct ControllerHealthTests {
  private typealias Action = ControllerHealth.Action

  /// Lets time pass; the deadlines on the way are kept.
  /// - Returns: the actions, and after how many seconds each came.
  private func wait(_ seconds: Int, _ health: inout ControllerHealth, from start: Instant, hasLinks: Bool = false)
    -> [Int: Action]
  {
    var actions: [Int: Action] = [:]
    let end = start.advanced(by: .seconds(seconds))
    while let deadline = health.deadline, deadline <= end {
      guard let action = health.tick(hasLinks: hasLinks, at: deadline) else { continue }
      actions[Int(start.duration(to: deadline) / .seconds(1))] = action
    }
    return actions
  }

  /// Reports come each half a minute.
  /// - Returns: the time of the last.
  private func hear(_ health: inout ControllerHealth, from start: Instant, minutes: Int = 15) -> Instant {
    for half in 0...2 * minutes { health.heard(isExtended: false, at: start.advanced(by: .seconds(30 * half))) }
    return start.advanced(by: .seconds(60 * minutes))
  }

  @Test("A scan that falls silent is begun anew, then the adapter is opened anew, once in an hour (stack 2)")
  func silence() {
    var health = ControllerHealth()
    var now = Instant.zero
    health.scanning(true, at: now)
    now = hear(&health, from: now)
    #expect(wait(120, &health, from: now) == [60: .renew, 120: .reopen])
    now = now.advanced(by: .seconds(120))
    health.began()
    health.scanning(true, at: now)
    now = hear(&health, from: now)
    #expect(wait(900, &health, from: now) == [60: .renew, 120: .tell, 720: .renew])
    now = hear(&health, from: now.advanced(by: .seconds(3600)))
    #expect(wait(120, &health, from: now) == [60: .renew, 120: .reopen])
  }

  @Test func aPlaceWithoutDevicesIsNoFault() {
    var health = ControllerHealth()
    health.scanning(true, at: .zero)
    #expect(wait(1500, &health, from: .zero) == [60: .renew, 720: .renew, 1380: .renew])
  }

  @Test("Where little is heard silence is no fault (radio H5)")
  func aQuietPlace() {
    var health = ControllerHealth()
    health.scanning(true, at: .zero)
    health.heard(isExtended: false, at: .zero)
    #expect(wait(1500, &health, from: .zero) == [60: .renew, 720: .renew, 1380: .renew])
    // One report in an hour, and a device that passes.
    health.heard(isExtended: false, at: .zero.advanced(by: .seconds(3600)))
    let now = hear(&health, from: .zero.advanced(by: .seconds(7200)), minutes: 14)
    #expect(wait(600, &health, from: now) == [60: .renew])
  }

  @Test func linksAreASignOfHealth() {
    var health = ControllerHealth()
    health.scanning(true, at: .zero)
    let now = hear(&health, from: .zero)
    #expect(wait(200, &health, from: now, hasLinks: true) == [60: .renew])
  }

  @Test func reportsAndTheEndOfTheScanEndTheWait() {
    var health = ControllerHealth()
    health.heard(isExtended: false, at: .zero)
    #expect(health.deadline == nil, "it does not scan")
    health.scanning(true, at: .zero)
    let later = Instant.zero.advanced(by: .seconds(59))
    health.heard(isExtended: false, at: later)
    #expect(health.tick(hasLinks: false, at: .zero.advanced(by: .seconds(60))) == nil)
    #expect(health.deadline == later.advanced(by: .seconds(60)))
    health.scanning(false, at: later)
    #expect(health.deadline == nil)
  }

  /// A controller whose scans use extended commands, and whose scan is on.
  private func extended() -> ControllerHealth {
    var health = ControllerHealth()
    health.began(scansExtended: true)
    health.scanning(true, at: .zero)
    return health
  }

  @Test("Extended scanning that hears nothing where the kernel finds devices is given up")
  func silentExtendedScan() {
    var health = extended()
    #expect(health.isSilent)
    health.kernelFound()
    let later = Instant.zero.advanced(by: .seconds(60))
    #expect(health.deadline == later && health.tick(hasLinks: false, at: later) == .giveUpExtendedScan)
    #expect(!health.isSilent, "told once")
  }

  @Test func anExtendedScanBesideLinksHasAnotherMinute() {
    var health = extended()
    health.kernelFound()
    #expect(wait(90, &health, from: .zero, hasLinks: true) == [60: .renew])
    #expect(wait(30, &health, from: .zero.advanced(by: .seconds(90))) == [30: .giveUpExtendedScan])
  }

  @Test func aTrainThatIsWantedKeepsNoBrokenExtendedScan() {
    var health = extended()
    health.kernelFound()
    let later = Instant.zero.advanced(by: .seconds(60))
    #expect(health.tick(hasLinks: false, hasTrains: true, at: later) == .giveUpExtendedScan)
  }

  @Test func besideTrainsNothingIsOpenedAnew() {
    var health = ControllerHealth()
    health.scanning(true, at: .zero)
    let now = hear(&health, from: .zero)
    #expect(health.tick(hasLinks: false, hasTrains: true, at: now.advanced(by: .seconds(60))) == .renew)
    #expect(health.tick(hasLinks: false, hasTrains: true, at: now.advanced(by: .seconds(120))) == nil)
  }

  @Test func anExtendedScanThatHearsSomethingIsKept() {
    var health = extended()
    health.heard(isExtended: true, at: .zero)
    health.kernelFound()
    #expect(!health.isSilent && wait(60, &health, from: .zero) == [60: .renew])
  }

  @Test func withoutTheKernelNothingIsKnownOfAnExtendedScan() {
    var health = extended()
    #expect(wait(600, &health, from: .zero) == [60: .renew])
    health.scanning(false, at: .zero)
    health.kernelFound()
    #expect(!health.isSilent && health.deadline == nil)
  }
}
