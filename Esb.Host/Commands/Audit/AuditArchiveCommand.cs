using System.CommandLine;
using Esb.Host.Composition;
using Esb.Storage.Archives;

namespace Esb.Host.Commands.Audit;

/// <summary><c>esb audit archive --config CONFIG (--before DAY --to FOLDER [--drop] | --restore FILE)</c></summary>
internal sealed class AuditArchiveCommand : Command
{
    private readonly Option<string> _config = new("--config")
    {
        Description = "The configuration whose store is archived.",
        Required = true,
    };
    private readonly Option<DateOnly?> _before = new Option<DateOnly?>("--before")
    {
        Description = "The first day (UTC) that is not archived, such as 2026-03-01.",
    }.AsDay();
    private readonly Option<string?> _to = new("--to") { Description = "The folder that gets a file for each day." };
    private readonly Option<bool> _drop = new("--drop")
    {
        Description = "Drops the days once they are in the folder; needs the owner of the tables.",
    };
    private readonly Option<string?> _restore = new("--restore") { Description = "Takes the facts of this file into the store again." };

    public AuditArchiveCommand(CommandContext context)
        : base("archive", "Writes days of facts to compressed files, and takes them back.")
    {
        Add(_config);
        Add(_before);
        Add(_to);
        Add(_drop);
        Add(_restore);
        Validators.Add(result =>
        {
            var writes = result.GetResult(_before) is not null && result.GetResult(_to) is not null;
            if (writes == result.GetResult(_restore) is not null)
                result.AddError("expected --before and --to, or --restore");
        });
        SetAction((result, cancellationToken) => RunAsync(result, context, cancellationToken));
    }

    private async Task<int> RunAsync(ParseResult result, CommandContext context, CancellationToken cancellationToken)
    {
        if (result.GetValue(_drop) && result.GetValue(_before) > DateOnly.FromDateTime(context.Time.GetUtcNow().UtcDateTime))
            throw new CommandException(
                ExitCode.Usage,
                "ESB-CLI-USAGE",
                "--before: expected today (UTC) at the latest with --drop, for hosts still record the day that is not over"
            );
        await using var archive = BusServices
            .FindStore(result.GetRequiredValue(_config), context.Variables, context.Services())
            .OpenArchive(readOnly: false, context.Time);
        if (result.GetValue(_restore) is { } file)
        {
            var restored = await ArchiveFiles.TryAsync(() => archive.RestoreAsync(file, cancellationToken));
            context.Output.WriteLine(
                $"{restored.Day:yyyy-MM-dd}: {restored.Added} of {restored.Facts} facts added; the store had the others"
            );
            return ExitCode.Done;
        }

        var folder = Path.GetFullPath(result.GetValue(_to)!);
        var broken = await ArchiveFiles.TryAsync(() =>
            archive.WriteAsync(
                result.GetValue(_before)!.Value,
                folder,
                result.GetValue(_drop),
                day => Tell(context, day),
                cancellationToken
            )
        );
        if (broken is null)
            return ExitCode.Done;
        context.Error.WriteLine($"{broken.Breaks[0].Day:yyyy-MM-dd} was changed and is not archived:");
        return AuditVerifyCommand.Tell(context, broken);
    }

    private static void Tell(CommandContext context, ArchivedDay day) =>
        context.Output.WriteLine(
            $"{day.Day:yyyy-MM-dd}: {day.Facts} facts in {day.File}"
                + (day.TakenBack > 0 ? $", of which {day.TakenBack} were taken back from it" : "")
                + (day.IsDropped ? ", dropped" : "")
        );
}
