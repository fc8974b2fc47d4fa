using System.CommandLine;

namespace Esb.Host.Commands;

/// <summary><c>esb audit show ID</c></summary>
internal sealed class AuditShowCommand : Command
{
    private readonly Argument<Guid> _id = new("id") { Description = "The id of a message." };
    private readonly SearchOptions _search;

    public AuditShowCommand(CommandContext context)
        : base("show", "Shows the way of a message, from its first fact to its last, as JSON.")
    {
        Add(_id);
        _search = new SearchOptions(this);
        SetAction((result, cancellationToken) => ShowAsync(result, context, cancellationToken));
    }

    private async Task<int> ShowAsync(ParseResult result, CommandContext context, CancellationToken cancellationToken)
    {
        var facts = await _search.SearchAsync(result, context, search => search.GetJourneyAsync(result.GetValue(_id), cancellationToken));
        context.Output.WriteLine(CommandJson.Write(facts));
        return ExitCode.Done;
    }
}
