using System.CommandLine;
using System.CommandLine.Parsing;

namespace Esb.Host.Commands;

/// <summary><c>esb audit show ID</c></summary>
internal sealed class AuditShowCommand : Command
{
    private readonly Argument<Guid> _id = new("id") { Description = "The id of a message.", CustomParser = ReadId };
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

    private static Guid ReadId(ArgumentResult result)
    {
        var text = result.Tokens.Count > 0 ? result.Tokens[0].Value : "";
        if (Guid.TryParse(text, out var id)) return id;
        result.AddError($"'{text}' is no id of a message: expected a UUID such as 01931b5e-7a2c-7c3d-9e4f-0123456789ab");
        return default;
    }
}
