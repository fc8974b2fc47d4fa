using System.CommandLine;
using System.Globalization;
using Esb.Core.Workflows;
using Esb.Host.Management;
using Esb.Host.Management.Workflows;

namespace Esb.Host.Commands.Workflows;

/// <summary><c>esb workflows retry|skip|terminate|fire [ID] [filter] [--preview] [--rate N] [--stop-at SHARE] [--wait]</c></summary>
internal sealed class WorkflowActionCommand : Command
{
    private static readonly string[] Header = ["WORKFLOW", "STATE", "STEP", "CODE", "INSTANCES"];
    private static readonly TimeSpan Look = TimeSpan.FromMilliseconds(500);

    private readonly Argument<Guid?> _id = new("id")
    {
        Description = "The instance; without one, all that the filter finds.",
        Arity = ArgumentArity.ZeroOrOne,
    };
    private readonly Option<string?> _name = new("--workflow") { Description = "The workflow." };
    private readonly Option<WorkflowState?> _state = new("--state") { Description = "The state, of those that the action is for." };
    private readonly Option<string?> _step = new("--step") { Description = "The step at which they stand." };
    private readonly Option<string?> _code = new("--code") { Description = "The code of the failure." };
    private readonly Option<string?> _key = new("--key") { Description = "A business key, as NAME=VALUE." };
    private readonly Option<DateTimeOffset?> _before = new("--before") { Description = "Only those that started before this time." };
    private readonly Option<bool> _preview = new("--preview") { Description = "Only counts what would be changed." };
    private readonly Option<double?> _rate = new("--rate") { Description = "Instances per second at most." };
    private readonly Option<double?> _stopAt = new("--stop-at")
    {
        Description = "Stops when this share failed, or stopped again, such as 0.1.",
    };
    private readonly Option<bool> _wait = new("--wait") { Description = "Waits until all are done." };
    private readonly Option<string?> _reason = new("--reason") { Description = "Why, for the record; needed with a filter." };
    private readonly Option<bool> _compensate = new("--compensate") { Description = "Undoes the completed scopes, the last one first." };
    private readonly WorkflowAction _action;
    private readonly HostOptions _host;

    public WorkflowActionCommand(string action, string description, CommandContext context, bool ends = false)
        : base(action, description)
    {
        _action = Enum.Parse<WorkflowAction>(action, ignoreCase: true);
        Add(_id);
        foreach (var option in new Option[] { _name, _state, _step, _code, _key, _before, _preview, _rate, _stopAt, _wait, _reason })
            Add(option);
        if (ends)
            Add(_compensate);
        _host = new HostOptions(this);
        SetAction((result, cancellationToken) => ActAsync(result, action, ends, context, cancellationToken));
    }

    private async Task<int> ActAsync(
        ParseResult result,
        string action,
        bool ends,
        CommandContext context,
        CancellationToken cancellationToken
    )
    {
        using var client = _host.Connect(result, context);
        var compensates = ends && result.GetValue(_compensate);
        if (result.GetValue(_id) is { } id)
            return await ActAsync(
                client,
                id,
                action,
                new WorkflowActionBody { Reason = result.GetValue(_reason), Compensate = compensates },
                context,
                cancellationToken
            );
        var body = new WorkflowBatchBody
        {
            Action = _action,
            Name = result.GetValue(_name),
            State = result.GetValue(_state),
            Step = result.GetValue(_step),
            Code = result.GetValue(_code),
            Key = result.GetValue(_key),
            Before = result.GetValue(_before),
            Compensate = compensates,
            Rate = result.GetValue(_rate),
            StopAtFailureShare = result.GetValue(_stopAt),
            Reason = result.GetValue(_reason),
        };
        if (result.GetValue(_preview))
        {
            var groups = await client.PostAsync<Page<WorkflowBatchGroup>>("api/workflows/batches/preview", body, cancellationToken);
            TextTable.Write(context.Output, groups.Items.Select(Row).Prepend(Header));
            return ExitCode.Done;
        }

        var batch = await client.PostAsync<WorkflowBatch>("api/workflows/batches", body, cancellationToken);
        context.Output.WriteLine($"batch {batch.Id}");
        return result.GetValue(_wait) ? await WaitAsync(client, batch.Id, context, cancellationToken) : ExitCode.Done;
    }

    private static async Task<int> ActAsync(
        ManagementClient client,
        Guid id,
        string action,
        WorkflowActionBody body,
        CommandContext context,
        CancellationToken cancellationToken
    )
    {
        var instance = await client.PostAsync<WorkflowInstanceView>($"api/workflows/{id}/{action}", body, cancellationToken);
        context.Output.WriteLine(
            $"{instance.Id} of {instance.Workflow} is "
                + $"{instance.State.ToString().ToLowerInvariant()}{(instance.Step.Length == 0 ? "" : $" at {instance.Step}")}"
        );
        return ExitCode.Done;
    }

    private static async Task<int> WaitAsync(ManagementClient client, Guid id, CommandContext context, CancellationToken cancellationToken)
    {
        while (true)
        {
            var batch = await client.GetAsync<WorkflowBatch>($"api/workflows/batches/{id}", cancellationToken);
            if (batch.State != WorkflowBatchState.Running)
            {
                var reason = batch.Reason is { } why ? $": {why}" : "";
                context.Output.WriteLine(
                    $"{batch.State.ToString().ToLowerInvariant()}, {batch.Done} changed, {batch.Failed} failed{reason}"
                );
                return batch is { State: WorkflowBatchState.Done, Failed: 0 } ? ExitCode.Done : ExitCode.Failed;
            }

            await Task.Delay(Look, cancellationToken);
        }
    }

    private static string[] Row(WorkflowBatchGroup group) =>
        [
            group.Workflow,
            group.State.ToString().ToLowerInvariant(),
            group.Step.Length == 0 ? "-" : group.Step,
            group.Code ?? "-",
            group.Instances.ToString(CultureInfo.InvariantCulture),
        ];
}
