using System.CommandLine;

namespace Esb.Host.Commands.Documents;

/// <summary><c>esb docs FOLDER</c></summary>
internal sealed class DocsCommand : Command
{
    private readonly Argument<string> _folder = new("folder") { Description = "Where the pages are written; it is created." };

    public DocsCommand(CommandContext context)
        : base("docs", "Writes the reference as Markdown: commands, API, endpoint types, steps, settings, log events, metrics.")
    {
        Add(_folder);
        SetAction(
            async (result, cancellationToken) =>
            {
                var folder = Directory.CreateDirectory(result.GetRequiredValue(_folder)).FullName;
                foreach (var (name, text) in ReferencePages.All(context))
                    await File.WriteAllTextAsync(Path.Combine(folder, name), text, cancellationToken);
                var settings = Path.Combine(folder, "configuration");
                foreach (var (name, text) in ReferencePages.Settings(context, settings))
                    await File.WriteAllTextAsync(Path.Combine(settings, name), text, cancellationToken);
                return ExitCode.Done;
            }
        );
    }
}
