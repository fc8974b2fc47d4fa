using System.CommandLine;
using System.Text;
using Esb.Host.Management.Messages;

namespace Esb.Host.Commands.Audit;

/// <summary><c>esb audit show ID [--json|--mermaid|--svg FILE]</c></summary>
internal sealed class AuditShowCommand : Command
{
    private readonly Argument<Guid> _id = new Argument<Guid>("id") { Description = "The id of a message." }.AsMessageId();
    private readonly Option<bool> _json = new("--json") { Description = "Writes the facts, with their bodies, as JSON." };
    private readonly Option<bool> _mermaid = new("--mermaid") { Description = "Writes a sequence diagram in the language of Mermaid." };
    private readonly Option<string?> _svg = new("--svg")
    {
        Description = "Writes a sequence diagram, which browsers show, to this file.",
        HelpName = "file",
    };
    private readonly SearchOptions _search;

    public AuditShowCommand(CommandContext context)
        : base("show", "Shows the journey of a message and of all that it caused, as a tree.")
    {
        Add(_id);
        Add(_json);
        Add(_mermaid);
        Add(_svg);
        _search = new SearchOptions(this);
        Validators.Add(result =>
        {
            if (new Option[] { _json, _mermaid, _svg }.Count(option => result.GetResult(option) is not null) > 1)
                result.AddError("expected one of --json, --mermaid and --svg");
        });
        SetAction((result, cancellationToken) => ShowAsync(result, context, cancellationToken));
    }

    private async Task<int> ShowAsync(ParseResult result, CommandContext context, CancellationToken cancellationToken)
    {
        var id = result.GetValue(_id);
        if (result.GetValue(_json))
        {
            context.Output.WriteLine(
                CommandJson.Write(await _search.SearchAsync(result, context, search => search.GetFactsAsync(id, cancellationToken)))
            );
            return ExitCode.Done;
        }

        var file = result.GetValue(_svg);
        var format =
            file is not null ? JourneyFormat.Svg
            : result.GetValue(_mermaid) ? JourneyFormat.Mermaid
            : JourneyFormat.Text;
        var drawing = await _search.SearchAsync(result, context, search => search.DrawJourneyAsync(id, format, cancellationToken));
        if (file is null)
            context.Output.Write(drawing);
        else
            await CommandFiles.WriteAsync(file, Encoding.UTF8.GetBytes(drawing), cancellationToken);
        return ExitCode.Done;
    }
}
