using System.Text.Json;
using System.Text.Json.Nodes;
using Esb.Core.Errors;
using Esb.Core.Storage;
using Esb.Core.Workflows;
using Esb.Workflows.Workflows.Compiling;
using Esb.Workflows.Workflows.State;

namespace Esb.Workflows.Workflows.Engine;

/// <inheritdoc cref="IWorkflowControl"/>
internal sealed class WorkflowControl(WorkflowEngine engine, WorkflowPrograms programs, IWorkflowStore store, ITimerStore timers)
    : IWorkflowControl
{
    public IReadOnlyList<WorkflowDescription> Definitions =>
        [
            .. programs
                .Names.Order(StringComparer.Ordinal)
                .SelectMany(name => programs.Living(name))
                .Select(program => new WorkflowDescription(
                    program.Model.Name,
                    program.Hash,
                    programs.Find(program.Model.Name)?.Hash == program.Hash,
                    program.Model.Description,
                    ProgramMap.Of(program.Model.Instructions)
                )),
        ];

    public IReadOnlyList<string> HashesOf(string key, string? workflow)
    {
        if (key.Split('=', 2) is not [{ Length: > 0 } name, { Length: > 0 } value])
            throw new EsbException("ESB-API-PARAMETER", "key: expected NAME=VALUE.", FaultKind.Malformed);
        return [.. (workflow is null ? programs.Names : [workflow]).Select(one => MatchedKeys.Hash(one, [new(name, value)]))];
    }

    public JsonNode DetailsOf(WorkflowInstance instance)
    {
        var state = InstanceState.Read(instance);
        return new JsonObject
        {
            ["variables"] = JsonSerializer.SerializeToNode(state.Variables, WorkflowJson.Default.DictionaryStringStoredValue),
            ["waits"] = new JsonArray([
                .. state
                    .Tokens.Where(token => token.Wait is not null)
                    .Select(token =>
                        (JsonNode)
                            new JsonObject
                            {
                                ["kind"] = token.Wait!.Kind.ToString(),
                                ["branch"] = token.Branch,
                                ["number"] = token.Wait.Number,
                            }
                    ),
            ]),
            ["undoable"] = state.Scopes.Count,
        };
    }

    public Task<WorkflowInstance> RetryAsync(Guid id, bool skip, OperatorDecision decision, CancellationToken cancellationToken) =>
        engine.OperateAsync(
            id,
            run =>
            {
                Require(run, WorkflowState.Suspended, WorkflowState.CompensationFailed);
                run.Resume(skip);
            },
            decision,
            skip ? "skip" : "retry",
            cancellationToken
        );

    public async Task<WorkflowInstance> TerminateAsync(
        Guid id,
        bool compensate,
        OperatorDecision decision,
        CancellationToken cancellationToken
    )
    {
        var ended = await engine.OperateAsync(
            id,
            run =>
                run.Terminate(code: null, $"terminated by {decision.By}{(decision.Reason is { } reason ? $": {reason}" : "")}", compensate),
            decision,
            "terminate",
            cancellationToken
        );
        // Its end has ended them, but for those that an earlier version of the program started.
        foreach (var child in await store.ChildrenAsync(id, cancellationToken))
        {
            var timer = new StoredTimer(TimerKinds.TerminateId(child), TimerKinds.Terminate, child.ToString()) { Delay = TimeSpan.Zero };
            await timers.SetAsync([timer], cancellationToken);
        }

        return ended;
    }

    public Task<WorkflowInstance> FireAsync(Guid id, OperatorDecision decision, CancellationToken cancellationToken) =>
        engine.OperateAsync(
            id,
            run =>
            {
                Require(run, WorkflowState.Waiting, WorkflowState.Compensating);
                var timed = run
                    .State.Tokens.Select(token => token.Wait)
                    .Where(wait => wait?.Timer is not null || wait?.Limit is not null)
                    .ToList();
                if (timed.Count == 0)
                    throw Refused("The instance waits for no time.");
                foreach (var wait in timed)
                    run.Fire(wait!.Number, (wait.Timer ?? wait.Limit)!.Value);
            },
            decision,
            "fire",
            cancellationToken
        );

    public Task<WorkflowInstance> SetVariablesAsync(
        Guid id,
        JsonObject variables,
        OperatorDecision decision,
        CancellationToken cancellationToken
    ) =>
        engine.OperateAsync(
            id,
            run =>
            {
                Require(run, WorkflowState.Suspended, WorkflowState.CompensationFailed, WorkflowState.Waiting);
                run.SetVariables(variables);
            },
            decision,
            "variables",
            cancellationToken
        );

    public Task<WorkflowMigration> MigrateAsync(
        string workflow,
        string? to,
        bool isDryRun,
        OperatorDecision decision,
        CancellationToken cancellationToken
    ) => engine.MigrateAsync(workflow, to, isDryRun, decision, cancellationToken);

    private static void Require(InstanceRun run, params ReadOnlySpan<WorkflowState> states)
    {
        if (!states.Contains(run.Condition))
            throw Refused($"The instance is {run.Condition}; this needs one of {string.Join(", ", states.ToArray())}.");
    }

    private static EsbException Refused(string reason) => new("ESB-WFL-ACTION", reason, FaultKind.Invalid) { Status = 409 };
}
