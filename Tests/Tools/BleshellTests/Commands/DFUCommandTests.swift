import Testing

@testable import bleshell

/// The limits of `bleshell dfu`.
@Suite struct DFUCommandTests {
  @Test("an upload ends after five lost links without progress, also when the device drops octets")
  func losses() {
    var losses = UploadLosses()
    let continued = [100, 50, 100, 60, 100, 101, 0, 101, 0, 101, 0].map { losses.add(at: $0) }
    #expect(continued == [true, true, true, true, true, true, true, true, true, true, false])
  }

  @Test("the time between two images is at least a minute, unless it has no limit")
  func installation() {
    #expect(DFUCommand.limit(ofInstallation: nil) == 60)
    #expect(DFUCommand.limit(ofInstallation: 15) == 60)
    #expect(DFUCommand.limit(ofInstallation: 300) == 300)
    #expect(DFUCommand.limit(ofInstallation: 0) == 0)
  }
}
