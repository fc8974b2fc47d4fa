using System.CommandLine;
using System.Text.Json;
using Esb.Core.Configuration;
using Esb.Host.Management;

namespace Esb.Host.Commands;

/// <summary><c>esb audit show ID</c></summary>
internal sealed class AuditShowCommand : Command
{
    private static readonly JsonSerializerOptions Json = MakeJson();

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
        context.Output.WriteLine(JsonSerializer.Serialize(facts, Json));
        return ExitCode.Done;
    }

    private static JsonSerializerOptions MakeJson()
    {
        var options = new JsonSerializerOptions(JsonStyle.Indented);
        ManagementServer.Configure(options);
        return options;
    }
}
