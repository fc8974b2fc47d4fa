using SideBySide.Measuring;
using SideBySide.Reports;
using SideBySide.Scenarios;

namespace SideBySide;

/// <summary>One run: every wanted scenario on its rig, published as soon as the rig is done.</summary>
internal sealed class Comparison(Surroundings surroundings, CompareOptions options, Action<string> tell)
{
    private readonly HashSet<string> _warm = [];
    private readonly List<ITarget> _sides = [];
    private readonly List<RowResult> _rows = [];

    public async Task<IReadOnlyList<ScenarioResult>> RunAsync(IReadOnlyList<IRig> rigs, CancellationToken cancellationToken)
    {
        var facts = await RunFacts.CollectAsync(surroundings, options, TimeProvider.System, cancellationToken);
        tell($"{facts.Machine}; {facts.Method}.");
        var publication = Publication.For(surroundings, options.IsQuick);
        var results = new List<ScenarioResult>();
        foreach (var rig in rigs)
        {
            var wanted = rig.Scenarios.Where(scenario => options.Wanted.Count == 0 || options.Wanted.Contains(scenario)).ToHashSet();
            if (wanted.Count == 0)
                continue;
            await RunAsync(rig, wanted, cancellationToken);
            var ofRig = wanted.Select(scenario => Result(scenario, facts)).ToArray();
            results.AddRange(ofRig);
            if (cancellationToken.IsCancellationRequested)
                break; // half a scenario does not take the place of a whole one
            tell($"written: {publication.Publish(ofRig)}");
        }

        return [.. results.OrderBy(result => result.Number)];
    }

    private async Task RunAsync(IRig rig, HashSet<string> wanted, CancellationToken cancellationToken)
    {
        try
        {
            await rig.RunAsync(wanted, contest => HoldAsync(contest, cancellationToken), cancellationToken);
        }
        catch (OperationCanceledException) when (cancellationToken.IsCancellationRequested)
        {
            AddNotRun(wanted, "not run: stopped before its end");
        }
        catch (Exception failure) // one rig that breaks leaves the others
        {
            tell($"{failure}");
            AddNotRun(wanted, $"not run: {failure.Message}");
        }
    }

    private void AddNotRun(IEnumerable<string> scenarios, string reason) =>
        _rows.AddRange(scenarios.Select(scenario => RowResult.NotRun(scenario, "", "", reason)));

    private async Task HoldAsync(Contest contest, CancellationToken cancellationToken)
    {
        _rows.AddRange(await contest.RunAsync(options.Method, _warm, tell, cancellationToken));
        _sides.AddRange(contest.Targets);
    }

    private ScenarioResult Result(string scenario, RunFacts facts)
    {
        var rows = _rows.Where(row => row.Scenario == scenario).ToArray();
        var names = rows.SelectMany(row => (string[])[row.Ours, row.Peer]).ToHashSet();
        var settings = _sides
            .Where(side => names.Contains(side.Name))
            .Select(side => new SideSettings(side.Name, side.Settings))
            .Distinct();
        return new ScenarioResult(scenario, facts, [.. settings], rows);
    }
}
