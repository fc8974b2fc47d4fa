using System.CommandLine;
using Esb.Core.Storage;
using Esb.Host.Commands.Audit;
using Esb.Host.Management.DeadLetters;
using Esb.Storage;

namespace Esb.Host.Commands.DeadLetters;

/// <summary><c>esb dead-letters show ID [--body FILE]</c></summary>
internal sealed class ShowLetterCommand : Command
{
    private readonly Argument<Guid> _id = new("id") { Description = "The id of a dead letter." };
    private readonly Option<string?> _body = new("--body") { Description = "Writes the body to this file." };
    private readonly SearchOptions _search;

    public ShowLetterCommand(CommandContext context)
        : base("show", "Shows a dead letter with its headers and every attempt, as JSON.")
    {
        Add(_id);
        Add(_body);
        _search = new SearchOptions(this);
        SetAction((result, cancellationToken) => ShowAsync(result, context, cancellationToken));
    }

    private async Task<int> ShowAsync(ParseResult result, CommandContext context, CancellationToken cancellationToken)
    {
        var id = result.GetValue(_id);
        var letter = await _search.ReadAsync(
            result,
            context,
            async store => DeadLetterView.Of(await GetAsync(store, id, cancellationToken)),
            host => host.GetAsync<DeadLetterView>($"api/dead-letters/{id}", cancellationToken)
        );
        context.Output.WriteLine(CommandJson.Write(letter));
        if (result.GetValue(_body) is not { } file)
            return ExitCode.Done;

        var body = await _search.ReadAsync(
            result,
            context,
            async store => (await GetAsync(store, id, cancellationToken)).Letter.Message.Body.Bytes.ToArray(),
            host => host.DownloadAsync($"api/dead-letters/{id}/body", cancellationToken)
        );
        await CommandFiles.WriteAsync(file, body, cancellationToken);
        return ExitCode.Done;
    }

    private static async Task<KeptDeadLetter> GetAsync(StoreReader store, Guid id, CancellationToken cancellationToken) =>
        await store.DeadLetters.GetAsync(id, cancellationToken)
        ?? throw new CommandException(ExitCode.Usage, "ESB-API-NOTFOUND", $"There is no dead letter {id}.");
}
