using System.Globalization;

namespace Esb.IntegrationTests.Faults.Clusters;

/// <summary>How long the test of the cluster is; each part may be set by a variable.</summary>
/// <param name="Rounds">Faults, one after the other (<c>ESB_CLUSTER_ROUNDS</c>).</param>
/// <param name="Messages">Messages that must be accepted; the load goes on while faults do (<c>ESB_CLUSTER_MESSAGES</c>).</param>
/// <param name="Rate">Messages per second (<c>ESB_CLUSTER_RATE</c>).</param>
/// <param name="Gap">Seconds between two faults (<c>ESB_CLUSTER_GAP</c>).</param>
internal sealed record ClusterSize(int Rounds, int Messages, int Rate, int Gap)
{
    public static ClusterSize OfEnvironment() => new(Read("ROUNDS", 20), Read("MESSAGES", 50_000), Read("RATE", 60), Read("GAP", 20));

    private static int Read(string name, int usual) =>
        Environment.GetEnvironmentVariable($"ESB_CLUSTER_{name}") is { Length: > 0 } value
            ? int.Parse(value, CultureInfo.InvariantCulture)
            : usual;
}
