using Esb.Configuration;
using Esb.Configuration.Compiling;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Expressions;
using Esb.Core.Processes;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Esb.Workflows.Processes;
using Esb.Workflows.Processes.Checks;
using Esb.Workflows.Workflows.Steps;

namespace Esb.Workflows.Workflows.Compiling;

/// <summary>Compiles the section <c>workflows</c>.</summary>
internal sealed class WorkflowCompiler(
    PinnedContent pinned,
    IReadOnlyDictionary<string, WorkflowConfig> workflows,
    ProcessModels processes,
    IReadOnlyDictionary<string, EndpointConfig> endpoints,
    IEnumerable<IStepFactory> factories,
    ITransactionSupport transactions,
    IExpressionCompiler expressions,
    TransportConfig transport,
    StoreConfig store,
    ConfigErrors errors
) : ICompiler<WorkflowModels>
{
    private readonly Dictionary<string, IStepFactory> _factories = factories
        .Append(new TransactionScopeStep(transactions))
        .ToDictionary(factory => factory.Kind);

    public WorkflowModels Compile()
    {
        // Instances that another host of the farm began must be found here too.
        if (workflows.Count > 0 && !store.IsShared && transport.SpansHosts)
            errors.Add("ESB-CFG-STORE", "workflows", "need a store that all hosts share, such as postgres, or topics in memory");
        var compiled = workflows.Values.Select(config => (Config: config, Steps: StepsOf(config))).ToList();
        new EndlessCheck(processes, errors).Check(compiled);
        new SilenceCheck(processes, endpoints.Values, transport, errors).Check([.. compiled.SelectMany(one => one.Steps.Descend())]);
        return new WorkflowModels([.. compiled.Select(one => Compile(one.Config, one.Steps))]);
    }

    private StepListModel StepsOf(WorkflowConfig config) =>
        new StepCompiler($"workflow {config.Name}", _factories, expressions, errors, isWorkflow: true).Compile(config.Steps);

    private WorkflowModel Compile(WorkflowConfig config, StepListModel steps)
    {
        if (config.Steps.Count == 0 && config.IsSound("steps"))
            errors.Add("ESB-CFG-VALUE", config, "steps", "expected at least one step");
        var all = steps.Descend().ToList();
        var correlate = MatchedKeys.Compile(config.Correlate, expressions, errors);
        var starts = config
            .Start.Select(start => (start.Subscribe, start.If is null ? null : expressions.Compile(start.If, errors)))
            .ToList();
        var waits = all.Select(step => step.Flow)
            .OfType<ReceiveFlow>()
            .Select(flow => (flow.Subjects, flow.Match))
            .Concat(all.Select(step => step.Flow).OfType<CollectFlow>().Select(flow => (flow.Subjects, flow.Match)))
            .ToList();
        var whenRunning = WhenRunningOf(config, correlate, waits);
        CheckKeys(config, all, correlate);
        CheckTimes(config);
        WorkflowChecks.Check(all, errors);
        new TransactionCheck(processes, endpoints).Check(all, errors);
        var content = pinned.Of(config, all);
        return new WorkflowModel(config, Fingerprint.Of([content]), content)
        {
            Instructions = new ProgramCompiler(processes, errors).Compile(steps),
            Starts = starts,
            Correlate = correlate,
            WhenRunning = whenRunning,
            Waits = waits,
            Description = steps.Description,
            Traits = [.. all.Select(step => step.Traits)],
            Transactions =
            [
                .. processes
                    .Reached(all)
                    .Select(step => step.Traits.Transaction)
                    .OfType<string>()
                    .Where(name => name.Length > 0)
                    .Distinct(),
            ],
        };
    }

    private WhenRunning WhenRunningOf(
        WorkflowConfig config,
        MatchedKeys correlate,
        IReadOnlyList<(IReadOnlyList<SubjectPattern> Subjects, MatchedKeys Match)> waits
    )
    {
        var waitsByStartKeys = correlate.Names.Count > 0 && waits.Any(wait => wait.Match.Names.SequenceEqual(correlate.Names));
        if (config.WhenRunning is not { } written)
            return waitsByStartKeys ? WhenRunning.Fail : WhenRunning.New;
        if (written != WhenRunning.New && correlate.Names.Count == 0)
            errors.Add("ESB-CFG-VALUE", config, "whenRunning", "expected correlate beside it: without keys no instance is the same");
        if (written == WhenRunning.New && waitsByStartKeys)
            errors.Add(
                "ESB-CFG-VALUE",
                config,
                "whenRunning",
                "several instances with the same keys would wait for the same messages; expected deliver, ignore or fail"
            );
        if (
            written == WhenRunning.Deliver
            && !waits.Any(wait =>
                config.Start.Any(start =>
                    start.Subscribe.Any(subject => wait.Subjects.Any(other => other.Covers(subject) || subject.Covers(other)))
                )
            )
        )
            errors.Add("ESB-CFG-VALUE", config, "whenRunning", "deliver needs a receive or collect of a starting subject");
        return written;
    }

    private void CheckKeys(WorkflowConfig config, List<StepModel> all, MatchedKeys correlate)
    {
        var known = correlate
            .Names.Concat(all.Select(step => step.Flow).OfType<CorrelateFlow>().SelectMany(flow => flow.Keys.Names))
            .ToHashSet();
        foreach (var step in all)
        {
            var match = step.Flow switch
            {
                ReceiveFlow receive => receive.Match,
                CollectFlow collect => collect.Match,
                _ => MatchedKeys.None,
            };
            foreach (var name in match.Names.Where(name => !known.Contains(name)))
                errors.Add(
                    "ESB-WFL-KEY",
                    $"{step.Path}.match.{name}",
                    $"no correlate gives the key '{name}'{NearestName.Hint(name, known)}",
                    step.Origin
                );
        }
    }

    private void CheckTimes(WorkflowConfig config)
    {
        if (config.Timeout is { } timeout && (timeout < TimeSpan.FromSeconds(1) || timeout > TimeSpan.FromDays(5 * 366)))
            errors.Add("ESB-WFL-TIMER", config, "timeout", "expected 1s to 5 years");
    }
}
