using System.Text;
using Esb.Configuration;
using Esb.Core.Errors;

namespace Esb.Storage.Evidence;

/// <summary>The valid anchors: for a store, without those of days dropped since; for a file, without those written after it.</summary>
internal sealed class AnchorBook
{
    public static readonly AnchorBook Empty = new([], [], []);

    private readonly ILookup<(DateOnly Day, Guid Chain), Anchor> _heads;
    private readonly ILookup<DateOnly, string> _archives;

    private AnchorBook(IReadOnlyList<Anchor> anchors, IReadOnlyList<Anchor> heads, IReadOnlyList<string> problems)
    {
        _heads = heads.ToLookup(anchor => (anchor.Day, anchor.Chain!.Value));
        _archives = anchors.Where(anchor => anchor.Archive is not null).ToLookup(anchor => anchor.Day, anchor => anchor.Archive!);
        (Count, Problems) = (heads.Count, problems);
        Began = anchors.Count == 0 ? null : DateOnly.FromDateTime(anchors.Min(anchor => anchor.At).UtcDateTime);
    }

    public int Count { get; }

    /// <summary>The problems found in the files.</summary>
    public IReadOnlyList<string> Problems { get; }

    /// <summary>The day of the first anchor: from the next day on every fact has a chain. Null if there are no anchors.</summary>
    public DateOnly? Began { get; }

    /// <summary>Opens the anchors that apply to a store.</summary>
    /// <param name="config">The folder and the signing key of the anchors.</param>
    /// <exception cref="EsbException"><c>ESB-AUD-ANCHORS</c>: the folder cannot be read.</exception>
    public static AnchorBook Open(AuditEvidenceConfig config) =>
        Open(
            config,
            anchors =>
            {
                var released = anchors
                    .Where(anchor => anchor.Kind != AnchorKind.Head)
                    .GroupBy(anchor => anchor.Day)
                    .ToDictionary(day => day.Key, day => day.Max(anchor => anchor.At));
                return head => !released.TryGetValue(head.Day, out var at) || head.At > at;
            }
        );

    /// <summary>Opens the anchors that apply to an archive file, even if its day was dropped again since: those that existed when the day
    /// was last archived, or all if no anchor names this file.</summary>
    /// <param name="config">The folder and the signing key of the anchors.</param>
    /// <param name="day">The day of the file.</param>
    /// <param name="sha256">The SHA-256 of the file.</param>
    /// <exception cref="EsbException"><c>ESB-AUD-ANCHORS</c>: the folder cannot be read.</exception>
    public static AnchorBook OfArchive(AuditEvidenceConfig config, DateOnly day, string sha256) =>
        Open(
            config,
            anchors =>
            {
                var archived = anchors.Where(anchor => anchor.Day == day && anchor.Archive is not null).ToList();
                var isKnown = archived.Exists(anchor => IsOf(sha256, anchor.Archive!));
                var last = archived.Max(anchor => (DateTimeOffset?)anchor.At); // an earlier file must not replace a later one
                return head => !isKnown || head.At <= last;
            }
        );

    /// <summary>True if the file of a day is unchanged since the day was dropped, or if there are no anchors to compare it with.</summary>
    public bool IsAsArchived(DateOnly day, string sha256) =>
        ReferenceEquals(this, Empty) || _archives[day].Any(archive => IsOf(sha256, archive));

    public IReadOnlyCollection<Anchor> Of(DateOnly day, Guid chain) => [.. _heads[(day, chain)]];

    /// <summary>The chains of a period that have anchors.</summary>
    public IEnumerable<(DateOnly Day, Guid Chain)> Chains(DateOnly? from, DateOnly? to) =>
        _heads.Select(head => head.Key).Where(key => (from is null || key.Day >= from) && (to is null || key.Day <= to)).Order();

    private static bool IsOf(string sha256, string archive) => archive.EndsWith(sha256, StringComparison.Ordinal);

    private static AnchorBook Open(AuditEvidenceConfig config, Func<IReadOnlyList<Anchor>, Func<Anchor, bool>> counting)
    {
        if (config is not { Anchors: { } folder, AnchorKey: { } key })
            return Empty;
        try
        {
            var (anchors, problems) = AnchorFile.ReadFolder(folder, Encoding.UTF8.GetBytes(key));
            var counts = counting(anchors);
            return new AnchorBook(
                anchors,
                [.. anchors.Where(anchor => anchor is { Kind: AnchorKind.Head, Chain: not null } && counts(anchor))],
                problems
            );
        }
        catch (Exception ex) when (ex is IOException or UnauthorizedAccessException)
        {
            throw new EsbException("ESB-AUD-ANCHORS", $"The anchors in '{folder}' cannot be read.", FaultKind.Unavailable, ex);
        }
    }
}
