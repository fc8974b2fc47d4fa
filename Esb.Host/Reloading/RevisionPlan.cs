using Esb.Configuration.Compiling;
using Esb.Configuration.Revisions;
using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Planning;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Esb.Host.Composition;
using Esb.Host.Versions;

namespace Esb.Host.Reloading;

/// <summary>Tells what would happen here if the host were reloaded with the files that an operator sends. Nothing changes.
/// Thread-safe.</summary>
/// <remarks>Variables, and files that are not sent, are those of this host.</remarks>
internal sealed class RevisionPlan(
    ConfigurationSource source,
    LiveRevisions revisions,
    Live<BusModel> live,
    IEnumerable<ConfigSection> sections,
    IEnumerable<FixedSettings> fixedSettings,
    TransportConfig transport,
    ITopicTransport topics,
    IFarmTuning? tuning = null
)
{
    /// <summary>Compiles the files beside what runs, and compares.</summary>
    /// <exception cref="ConfigurationRefusedException">With every error.</exception>
    /// <exception cref="EsbException"><c>ESB-API-BODY</c>: no files. Transient: broker or database cannot be reached.</exception>
    public async Task<PlannedReload> MakeAsync(ConfigurationContent sent, CancellationToken cancellationToken)
    {
        var folder = Directory.CreateTempSubdirectory("esb-plan-");
        try
        {
            var files = await ContentFolder.WriteAsync(sent, folder.FullName, cancellationToken);
            return await CompareAsync(live.Current, source.Compile(files), cancellationToken);
        }
        finally
        {
            folder.Delete(recursive: true);
        }
    }

    private async Task<PlannedReload> CompareAsync(BusModel before, BusModel after, CancellationToken cancellationToken)
    {
        var (changes, errors) = (new RevisionChanges(before, after, sections, fixedSettings, tuning?.Tuned), new ConfigErrors());
        changes.Refuse(errors, mayMigrate: transport.SpansHosts, migrates: transport.SpansHosts);
        var outside = new List<PlannedChange>();
        var next = revisions.Add(after);
        try
        {
            foreach (var planner in next.Services.GetServices<IChangePlanner>())
                outside.AddRange(await planner.PlanAsync(cancellationToken));
        }
        finally
        {
            await revisions.RemoveAsync(next);
        }

        foreach (var subscription in changes.Removed)
        {
            if (await topics.CountWaitingAsync(subscription, cancellationToken) is > 0 and var waiting)
                outside.Add(
                    new PlannedChange(
                        ChangeKind.Keep,
                        $"queues of {subscription.Endpoint}",
                        topics.IsDurable
                            ? $"messages that wait there and stay, without a consumer: {waiting}"
                            : $"messages that wait there and become dead letters: {waiting}"
                    )
                );
        }

        return new PlannedReload(
            before.Revision,
            after.Revision,
            changes.Lines,
            outside,
            [.. errors.All.Select(error => $"{error.Code} {error.Describe()}")]
        );
    }
}

/// <summary>What a reload would do.</summary>
/// <param name="Running">The revision that runs.</param>
/// <param name="Wanted">The revision of the files.</param>
/// <param name="Changes">A line for each thing on the hosts that would change.</param>
/// <param name="Outside">What would be made, changed or moved on broker and database; what has to be moved needs <c>--migrate</c>.</param>
/// <param name="Refused">Why it would be refused all the same; empty where it would not.</param>
internal sealed record PlannedReload(
    string Running,
    string Wanted,
    IReadOnlyList<string> Changes,
    IReadOnlyList<PlannedChange> Outside,
    IReadOnlyList<string> Refused
);
