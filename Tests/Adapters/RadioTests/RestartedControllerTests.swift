import Adapter
import Bluetooth
import HCI
import Testing

@testable import Radio

/// Controllers that say that they are ready for commands, though they were.
struct RestartedControllerTests {
  private let prepareScan = "0b20 07 01 6000 3000 00 00", scanOn = "0c20 02 01 00", scanOff = "0c20 02 00 00"

  @Test("A controller that says unasked that it takes commands may have begun anew: what is wanted is set up (stack 2)")
  func beganAnew() throws {
    let ready = "0e 03 01 0000"
    var script = RadioScript<LegacyFamily>()
    // Before the first answer it is that of the set-up.
    try script.hear(ready)
    script.silent()
    script.give(.wantScan(ScanParameters()))
    while script.isAsked { try script.answer() }
    _ = script.takeTold()
    // Just after an answer it gives a credit.
    try script.hear(ready)
    script.expectTold()
    script.wait(.seconds(1))
    try script.hear(ready)
    try script.command("0e20 00", status: 0x0C)
    try script.command("0a20 01 00")
    try script.command(scanOff)
    try script.command(prepareScan)
    try script.command(scanOn)
    script.expectTold(.renewed)
    // Once in a minute.
    script.wait(.seconds(2))
    try script.hear(ready)
    script.silent()
    script.expectTold()
    // With a link this is requested, also once in a minute.
    try script.hear("3e 13 01 00 4000 01 01 02f4f3f2f1f0 2400 0000 9001 00")
    _ = script.takeTold()
    for (status, told): (UInt8, [RadioAction]) in [(0, []), (0x02, [.broken(.beganAnew)])] {
      while script.isAsked { try script.answer() }
      script.wait(.seconds(2))
      try script.hear(ready)
      try script.command("0514 02 4000", status: status, returns: "400000")
      #expect(script.takeTold() == told)
      script.wait(.seconds(2))
      try script.hear(ready)
      script.silent()
      for _ in 0..<60 {
        script.wait(.seconds(1))
        while script.isAsked { try script.answer() }
      }
      _ = script.takeTold()
    }
  }

  @Test("Just after an answer that is a sign if a scan received reports, and none follows within a second")
  func beganAnewJustAfterAnAnswer() throws {
    let ready = "0e 03 01 0000"
    let report = "3e 0f 02 01 00 01 f4f3f2f1f0c0 03 020106 c4"
    for (wasHeard, isHeard) in [(false, false), (true, false), (true, true)] {
      var script = RadioScript<LegacyFamily>()
      script.give(.wantScan(ScanParameters()))
      while script.isAsked { try script.answer() }
      _ = script.takeTold()
      if wasHeard { try script.hear(report) }
      try script.hear(ready)
      if isHeard { try script.hear(report) }
      script.wait(.seconds(1))
      let isRenewed = wasHeard && !isHeard
      #expect(script.takeTold() == (isRenewed ? [.renewed] : []))
      guard isRenewed else { continue }
      // The commands of the renewal cause no other one, though each answer is followed by that event.
      try script.command("0e20 00", status: 0x0C)
      try script.hear(ready)
      while script.isAsked {
        try script.answer()
        try script.hear(ready)
      }
      _ = script.takeTold()
      script.wait(.seconds(1))
      script.silent()
      script.expectTold()
    }
  }
}
