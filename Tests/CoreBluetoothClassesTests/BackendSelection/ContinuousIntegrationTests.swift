import Testing

@testable import CoreBluetoothClasses

/// The conditions under which a program that names no backend may show emulated devices.
@Suite struct ContinuousIntegrationTests {
    /// The variables that the systems set in their jobs, by their documentation.
    private static let jobs: [[String: String]] = [
        ["CI": "true", "GITHUB_ACTIONS": "true", "GITHUB_RUN_ID": "1"],
        ["CI": "true", "GITLAB_CI": "true", "CI_JOB_ID": "1"],
        ["CI": "true", "CIRCLECI": "true"],
        ["CI": "true", "TRAVIS": "true"],
        ["CI": "true", "BUILDKITE": "true"],
        ["CI": "true", "BITBUCKET_BUILD_NUMBER": "12"],
        ["CI": "true", "DRONE": "true"],
        ["CI": "true", "SEMAPHORE": "true"],
        ["CI": "true", "CIRRUS_CI": "true"],
        ["CI": "True", "APPVEYOR": "True"],
        ["CI": "true", "JENKINS_URL": "https://jenkins.example/"],
        ["CI": "true", "TEAMCITY_VERSION": "2026.1"],
        ["CI": "true", "TF_BUILD": "True"],
        ["CI": "true", "CODEBUILD_BUILD_ID": "project:1"],
        ["CI": "1", "GITHUB_ACTIONS": "true"],
    ]

    @Test(arguments: jobs)
    func aJobOfAKnownSystemMayFallBack(variables: [String: String]) throws {
        let found = ContinuousIntegration(variables, isTestProcess: false)
        let evidence = try #require(found.evidence)
        #expect(evidence.contains("CI="))
        #expect(!found.isDoubtful)
    }

    @Test func everyKnownMarkerIsAmongTheJobs() {
        let variables = Set(Self.jobs.flatMap(\.keys))
        #expect(ContinuousIntegration.markers.allSatisfy(variables.contains))
    }

    @Test(arguments: [
        ["CI": "true"], ["CI": "1"], ["CI": "yes", "GITHUB_ACTIONS": "true"], ["CI": "false", "GITLAB_CI": "true"],
        ["CI": "0", "TRAVIS": "true"], ["CI": "true", "GITHUB_ACTIONS": ""], ["CI": "staging"],
        ["CI": "woodpecker", "CI_SYSTEM_NAME": "woodpecker"],
    ])
    func aProgramWithAVariableCIAloneMayNot(variables: [String: String]) {
        let found = ContinuousIntegration(variables, isTestProcess: false)
        #expect(found.evidence == nil)
        #expect(found.isDoubtful)
    }

    @Test(arguments: [[:], ["CI": ""], ["GITHUB_ACTIONS": "true"]])
    func withoutTheVariableThereIsNothingToDoubt(variables: [String: String]) {
        let found = ContinuousIntegration(variables, isTestProcess: true)
        #expect(found.evidence == nil)
        #expect(!found.isDoubtful)
    }

    @Test func aProcessThatRunsTestsMayFallBackWhereCIIsTrue() {
        #expect(ContinuousIntegration(["CI": "true"], isTestProcess: true).evidence != nil)
        #expect(ContinuousIntegration(["CI": "1"], isTestProcess: true).evidence != nil)
        #expect(ContinuousIntegration(["CI": "no"], isTestProcess: true).evidence == nil)
    }

    @Test func aTestProcessIsKnownByItsExecutable() {
        #expect(ContinuousIntegration.isTestProcess(executable: "/src/.build/debug/AppPackageTests.xctest"))
        #expect(ContinuousIntegration.isTestProcess(executable: "/opt/swift/libexec/swift/pm/swiftpm-testing-helper"))
        #expect(!ContinuousIntegration.isTestProcess(executable: "/usr/bin/gateway"))
        #expect(!ContinuousIntegration.isTestProcess(executable: ""))
        #expect(
            ContinuousIntegration.isTestProcess(executable: CommandLine.arguments.first ?? ""), "this is one")
    }

    @Test func theEnvironmentDecidesForProgramsThatNameNoBackend() {
        let inJob = SelectionEnvironment(["CI": "true", "GITHUB_ACTIONS": "true"])
        let deployed = SelectionEnvironment(["CI": "true"])
        func backend(_ environment: SelectionEnvironment) -> AutomaticBackend? {
            BackendResolver.backend(for: .automatic(), environment: environment) as? AutomaticBackend
        }
        #expect(backend(inJob) != nil && backend(deployed) != nil)
        #expect(backend(inJob) !== backend(deployed), "one may fall back, and the other not")
    }
}
