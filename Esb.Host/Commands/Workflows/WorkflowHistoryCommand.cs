using System.CommandLine;
using Esb.Host.Management;
using Esb.Host.Management.Workflows;

namespace Esb.Host.Commands.Workflows;

/// <summary><c>esb workflows history ID</c></summary>
internal sealed class WorkflowHistoryCommand : Command
{
    private static readonly string[] Header = ["CHECKPOINT", "AT", "STATE", "STEP", "KIND", "MS", "NOTE"];

    private readonly Argument<Guid> _id = new("id") { Description = "The instance." };
    private readonly ListOutput _list;
    private readonly HostOptions _host;

    public WorkflowHistoryCommand(CommandContext context)
        : base("history", "Shows the steps of an instance with their durations.")
    {
        Add(_id);
        _list = new ListOutput(this);
        _host = new HostOptions(this);
        SetAction((result, cancellationToken) => ShowAsync(result, context, cancellationToken));
    }

    private async Task<int> ShowAsync(ParseResult result, CommandContext context, CancellationToken cancellationToken)
    {
        using var client = _host.Connect(result, context);
        var lines = new List<WorkflowEventView>();
        for (string? after = "0"; after is not null; )
        {
            var page = await client.GetAsync<Page<WorkflowEventView>>(
                $"api/workflows/{result.GetRequiredValue(_id)}/history?limit=1000&after={after}",
                cancellationToken
            );
            lines.AddRange(page.Items);
            after = page.Next;
        }

        if (_list.TryWrite(result, context, lines))
            return ExitCode.Done;
        TextTable.Write(context.Output, lines.SelectMany(Rows).Prepend(Header));
        return ExitCode.Done;
    }

    private static IEnumerable<string[]> Rows(WorkflowEventView line) =>
        line
            .Steps.EnumerateArray()
            .Select(step =>
                new[]
                {
                    $"{line.Version}",
                    line.At.ToString("yyyy-MM-dd HH:mm:ss.fffzzz"),
                    line.State.ToString().ToLowerInvariant(),
                    step.GetProperty("step").GetString() is { Length: > 0 } place ? place : "-",
                    step.GetProperty("kind").GetString() ?? "-",
                    step.TryGetProperty("ms", out var ms) ? ms.GetRawText() : "-",
                    string.Join(
                        ": ",
                        new[] { "code", "note" }
                            .Select(name => step.TryGetProperty(name, out var value) ? value.GetString() : null)
                            .Where(text => text is not null)
                    ),
                }
            );
}
