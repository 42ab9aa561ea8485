import BledRPC
import CBuild

/// The build of this program: the release that it belongs to, and the commit that it was made from.
package enum Build {
  /// The first digits of the commit, with "-modified" if files differed from it; nil for a build that `make build` did
  /// not finish, or that was made from a source without git.
  package static let commit: String? = {
    let text = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { buffer in
      bled_build_commit(buffer.baseAddress, buffer.count)
      return buffer.baseAddress.map { String(cString: $0) } ?? ""
    }
    return text.isEmpty ? nil : text
  }()

  /// The commit in words: "commit 0d8a87161234", or "development build".
  package static let origin = commit.map { "commit \($0)" } ?? "development build"

  /// The release and the commit: "0.2.0 (commit 0d8a87161234)".
  package static let text = "\(Release.version) (\(origin))"
}
