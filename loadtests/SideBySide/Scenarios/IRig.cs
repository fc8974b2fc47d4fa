using SideBySide.Measuring;

namespace SideBySide.Scenarios;

/// <summary>Servers that some scenarios share, and the contests that are held on them.</summary>
internal interface IRig
{
    /// <summary>The scenarios that it can run, such as "S1".</summary>
    IReadOnlyList<string> Scenarios { get; }

    /// <summary>Starts what the wanted scenarios need, hands over each contest, and stops everything.</summary>
    /// <param name="wanted">Some of <see cref="Scenarios"/>.</param>
    /// <param name="hold">Runs a contest; its sides live until it returns.</param>
    Task RunAsync(IReadOnlySet<string> wanted, Func<Contest, Task> hold, CancellationToken cancellationToken);
}
