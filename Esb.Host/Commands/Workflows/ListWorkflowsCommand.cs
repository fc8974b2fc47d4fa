using System.CommandLine;
using Esb.Host.Management;
using Esb.Host.Management.Workflows;

namespace Esb.Host.Commands.Workflows;

/// <summary><c>esb workflows list</c></summary>
internal sealed class ListWorkflowsCommand : Command
{
    private static readonly string[] Header = ["ID", "WORKFLOW", "STATE", "STEP", "KEYS", "STARTED", "CODE"];

    private readonly Option<string?> _name = new("--workflow") { Description = "The workflow." };
    private readonly Option<string?> _state = new("--state") { Description = "The state, such as suspended or waiting." };
    private readonly Option<string?> _step = new("--step") { Description = "The step at which they stand." };
    private readonly Option<string?> _key = new("--key") { Description = "A business key, as NAME=VALUE." };
    private readonly Option<string?> _code = new("--code") { Description = "The code of the failure." };
    private readonly Option<string?> _after = new("--after") { Description = "The last instance of the page before." };
    private readonly Option<int> _limit = new Option<int>("--limit")
    {
        Description = "How many at most.",
        DefaultValueFactory = _ => 50,
    }.Within(1, 1_000);
    private readonly ListOutput _list;
    private readonly HostOptions _host;

    public ListWorkflowsCommand(CommandContext context)
        : base("list", "Lists instances, newest first.")
    {
        foreach (var option in new[] { _name, _state, _step, _key, _code, _after })
            Add(option);
        Add(_limit);
        _list = new ListOutput(this);
        _host = new HostOptions(this);
        SetAction((result, cancellationToken) => ListAsync(result, context, cancellationToken));
    }

    private async Task<int> ListAsync(ParseResult result, CommandContext context, CancellationToken cancellationToken)
    {
        using var client = _host.Connect(result, context);
        var filters = new[] { ("name", _name), ("state", _state), ("step", _step), ("key", _key), ("code", _code), ("after", _after) }
            .Where(filter => result.GetValue(filter.Item2) is not null)
            .Select(filter => $"&{filter.Item1}={Uri.EscapeDataString(result.GetValue(filter.Item2)!)}");
        var page = await client.GetAsync<Page<WorkflowInstanceView>>(
            $"api/workflows?limit={result.GetValue(_limit)}{string.Concat(filters)}",
            cancellationToken
        );
        if (_list.TryWrite(result, context, page))
            return ExitCode.Done;
        if (page.Items.Count == 0)
            context.Error.WriteLine("There are no such instances.");
        else
            TextTable.Write(context.Output, page.Items.Select(Row).Prepend(Header));
        if (page.Next is { } next)
            context.Error.WriteLine($"There are more: --after {next}");
        return ExitCode.Done;
    }

    private static string[] Row(WorkflowInstanceView instance) =>
        [
            instance.Id.ToString(),
            instance.Workflow,
            instance.State.ToString().ToLowerInvariant(),
            instance.Step.Length == 0 ? "-" : instance.Step,
            string.Join(' ', instance.Keys.Select(key => $"{key.Key}={key.Value}")),
            instance.StartedAt.ToString("yyyy-MM-dd HH:mm:sszzz"),
            instance.Code ?? "-",
        ];
}
