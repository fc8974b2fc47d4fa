using System.CommandLine;
using System.Globalization;
using Esb.Configuration;
using Esb.Core.Audit;
using Esb.Host.Composition;
using Esb.Storage;
using Esb.Storage.Archives;

namespace Esb.Host.Commands.Audit;

/// <summary><c>esb audit verify --config CONFIG [--from DAY] [--to DAY] [--strict] [--archive FILE]</c></summary>
internal sealed class AuditVerifyCommand : Command
{
    private static readonly string[] Header = ["DAY", "CHAIN", "FACTS", "FROM", "TO", "ANCHORED", "BREAKS"];

    private readonly Option<string> _config = new("--config") { Description = "The configuration whose store is read.", Required = true };
    private readonly Option<DateOnly?> _from = new Option<DateOnly?>("--from")
    {
        Description = "The first day (UTC), such as 2026-03-01.",
    }.AsDay();
    private readonly Option<DateOnly?> _to = new Option<DateOnly?>("--to") { Description = "The last day (UTC)." }.AsDay();
    private readonly Option<bool> _strict = new("--strict")
    {
        Description = "Accepts nothing without an anchor: chains of past days, and facts about erasures, need one.",
    };
    private readonly Option<string?> _archive = new("--archive") { Description = "Verifies this archive instead." };

    public AuditVerifyCommand(CommandContext context)
        : base(
            "verify",
            "Verifies that nobody changed what is recorded: follows the chains of facts, compares them with the anchors, and the "
                + "fields that facts are found by with those that they have."
        )
    {
        Add(_config);
        Add(_from);
        Add(_to);
        Add(_strict);
        Add(_archive);
        Validators.Add(result =>
        {
            if (result.GetResult(_archive) is not null && result.GetValue(_strict))
                result.AddError("--archive: expected without --strict");
            if (result.GetResult(_archive) is not null && (result.GetResult(_from) ?? result.GetResult(_to)) is not null)
                result.AddError("--archive: expected without --from and --to");
        });
        SetAction((result, cancellationToken) => VerifyAsync(result, context, cancellationToken));
    }

    /// <summary>Prints the findings.</summary>
    /// <returns>The exit code.</returns>
    public static int Tell(CommandContext context, AuditVerdict verdict)
    {
        context.Output.WriteLine(
            $"{verdict.Facts} facts, {verdict.Unchained} of them in no chain (recorded by an early version), {verdict.Erased} "
                + $"bodies erased; {verdict.Anchors} anchors; {verdict.TotalBreaks} breaks"
        );
        if (verdict is { Facts: 0, TotalBreaks: 0 })
            context.Output.WriteLine("Nothing was there to be verified.");
        if (verdict.TotalBreaks == 0)
            return ExitCode.Done;

        foreach (var found in verdict.Breaks)
            context.Error.WriteLine(Describe(found));
        if (verdict.TotalBreaks > verdict.Breaks.Count)
            context.Error.WriteLine($"and {verdict.TotalBreaks - verdict.Breaks.Count} more");
        return ExitCode.VerificationFailed;
    }

    private async Task<int> VerifyAsync(ParseResult result, CommandContext context, CancellationToken cancellationToken)
    {
        if (result.GetValue(_from) > result.GetValue(_to))
            throw new CommandException(ExitCode.Usage, "ESB-CLI-USAGE", "--to: expected no earlier than --from");
        var store = BusServices.FindStore(result.GetRequiredValue(_config), context.Variables, context.Services());
        var chains = new List<FollowedChain>();
        var verdict = result.GetValue(_archive) is { } file
            ? await VerifyArchiveAsync(store, file, chains, context, cancellationToken)
            : await VerifyStoreAsync(store, result, chains, context, cancellationToken);
        if (chains.Count > 0)
            TextTable.Write(context.Output, chains.Select(Row).Prepend(Header));
        var exitCode = Tell(context, verdict);
        if (verdict.Anchors == 0)
            context.Output.WriteLine(WithoutAnchors(store.Evidence));
        return exitCode;
    }

    // Printed for sound and unsound chains: without anchors, a truncated chain cannot be detected.
    private static string WithoutAnchors(AuditEvidenceConfig evidence)
    {
        var why = evidence.Anchors is { } folder ? $"{folder} has none that count" : "audit.anchors is not set";
        return $"No anchors ({why}): facts removed at the end of a chain, whole chains and days, and chains made anew are not noticed.";
    }

    private async Task<AuditVerdict> VerifyStoreAsync(
        StoreAccess access,
        ParseResult result,
        List<FollowedChain> chains,
        CommandContext context,
        CancellationToken cancellationToken
    )
    {
        await using var store = access.Read();
        var evidence =
            store.Evidence
            ?? throw new CommandException(
                ExitCode.Usage,
                "ESB-CLI-STORE",
                "The file store chains no facts: its segments have checksums against damage, but no evidence against edits."
            );
        var (from, to) = (result.GetValue(_from), result.GetValue(_to));
        return result.GetValue(_strict)
            ? await evidence.VerifyStrictlyAsync(
                from,
                to,
                DateOnly.FromDateTime(context.Time.GetUtcNow().UtcDateTime),
                chains.Add,
                cancellationToken
            )
            : await evidence.VerifyAsync(from, to, chains.Add, cancellationToken);
    }

    private static async Task<AuditVerdict> VerifyArchiveAsync(
        StoreAccess access,
        string file,
        List<FollowedChain> chains,
        CommandContext context,
        CancellationToken cancellationToken
    )
    {
        await using var archive = access.OpenArchive(readOnly: true, context.Time);
        return await ArchiveFiles.TryAsync(() => archive.VerifyAsync(file, chains.Add, cancellationToken));
    }

    private static string[] Row(FollowedChain chain) =>
        [
            chain.Day.ToString("yyyy-MM-dd", CultureInfo.InvariantCulture),
            chain.Chain.ToString(),
            $"{chain.Facts}",
            $"{chain.First}",
            $"{chain.Last}",
            chain.AnchoredTo is { } anchored ? $"{anchored}" : "-",
            $"{chain.Breaks}",
        ];

    private static string Describe(AuditBreak found)
    {
        var place = found.Chain is { } chain
            ? $"{found.Day:yyyy-MM-dd} chain {chain} "
                + $"{(found.From == found.To ? $"fact {found.From}" : $"facts {found.From} to {found.To}")}"
            : $"{found.Day:yyyy-MM-dd}";
        var id = found.Fact is { } fact ? $" ({fact})" : "";
        var anchor = found switch
        {
            { LastAnchor: { } last } => $" last good anchor: fact {last.Number}, {last.At:yyyy-MM-dd HH:mm:ss}Z",
            { Chain: not null } => " no anchor before it",
            _ => "", // anchors concern chains only
        };
        return $"ESB-AUD-BROKEN  {place}{id}: {found.Problem}{anchor}";
    }
}
