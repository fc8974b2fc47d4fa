using Esb.Core.Storage;

namespace Esb.Host.Commands.DeadLetters;

/// <summary>Groups of dead letters as a table.</summary>
internal static class LetterGroups
{
    private static readonly string[] Header = ["COUNT", "ENDPOINT", "CODE", "OLDEST", "NEWEST", "CAUSE"];

    public static void Write(IReadOnlyList<DeadLetterGroup> groups, CommandContext context)
    {
        if (groups.Count == 0)
            context.Error.WriteLine("There are no dead letters of this kind.");
        else
            TextTable.Write(context.Output, groups.Select(Row).Prepend(Header));
    }

    private static string[] Row(DeadLetterGroup group) =>
        [
            $"{group.Count}",
            group.Endpoint,
            group.Code,
            group.Oldest.ToString("yyyy-MM-dd HH:mm:sszzz"),
            group.Newest.ToString("yyyy-MM-dd HH:mm:sszzz"),
            group.Cause ?? "",
        ];
}
