namespace Esb.IntegrationTests.Faults.Checking;

/// <summary>Compares the revisions that handled messages with the exchanges of a farm: between two exchanges one revision is at work, and
/// during one it is the earlier or the later. Knows nothing of the bus.</summary>
internal sealed class RevisionMix
{
    private RevisionMix(IReadOnlyList<(HandledMessage, TimeSpan)> strays, IReadOnlyList<TimeSpan> mixes) =>
        (Strays, Mixes) = (strays, mixes);

    /// <summary>Messages that were handled by a revision that was not in service then, each with how long it had been out of
    /// service.</summary>
    public IReadOnlyList<(HandledMessage Message, TimeSpan Late)> Strays { get; }

    /// <summary>For each exchange, how long both revisions were seen at work: from the first message of the later to the last of the
    /// earlier one.</summary>
    public IReadOnlyList<TimeSpan> Mixes { get; }

    /// <param name="first">The mark of what ran before the first exchange.</param>
    /// <param name="exchanges">One after the other.</param>
    /// <param name="messages">In any order.</param>
    public static RevisionMix Of(string first, IReadOnlyList<SeenExchange> exchanges, IReadOnlyCollection<HandledMessage> messages)
    {
        var spans = Spans(first, exchanges);
        var strays = new List<(HandledMessage, TimeSpan)>();
        var starts = spans.Select(span => span.From).ToArray();
        foreach (var message in messages)
        {
            var index = IndexOf(starts, message.From);
            var isIn = false;
            for (var i = index; i < spans.Count && spans[i].From <= message.To && !isIn; i++)
                isIn = spans[i].Marks.Contains(message.Mark);
            if (!isIn)
                strays.Add((message, message.From - LastOf(spans, index, message.Mark)));
        }

        return new RevisionMix(strays, MixesOf(first, exchanges, messages));
    }

    // Which marks may be seen, and until when.
    private static List<(DateTimeOffset From, DateTimeOffset To, HashSet<string> Marks)> Spans(
        string first,
        IReadOnlyList<SeenExchange> exchanges
    )
    {
        var spans = new List<(DateTimeOffset, DateTimeOffset, HashSet<string>)>();
        var (from, running) = (DateTimeOffset.MinValue, new HashSet<string> { first });
        foreach (var exchange in exchanges)
        {
            spans.Add((from, exchange.From, running));
            HashSet<string> either = [.. running, exchange.Mark];
            spans.Add((exchange.From, exchange.To, either));
            running =
                exchange.IsDone ? [exchange.Mark]
                : exchange.IsUncertain ? either
                : running;
            from = exchange.To;
        }

        spans.Add((from, DateTimeOffset.MaxValue, running));
        return spans;
    }

    private static DateTimeOffset LastOf(
        List<(DateTimeOffset From, DateTimeOffset To, HashSet<string> Marks)> spans,
        int index,
        string mark
    )
    {
        for (var i = index; i >= 0; i--)
        {
            if (spans[i].Marks.Contains(mark))
                return spans[i].To;
        }

        return DateTimeOffset.MinValue; // too early, and not too late
    }

    private static List<TimeSpan> MixesOf(string first, IReadOnlyList<SeenExchange> exchanges, IReadOnlyCollection<HandledMessage> messages)
    {
        var byMark = messages.ToLookup(message => message.Mark);
        var (mixes, running) = (new List<TimeSpan>(), first);
        for (var i = 0; i < exchanges.Count; i++)
        {
            var exchange = exchanges[i];
            if (exchange.IsDone && exchange.Mark != running)
            {
                var (begin, end) = (exchange.From, i + 1 < exchanges.Count ? exchanges[i + 1].From : DateTimeOffset.MaxValue);
                var later = byMark[exchange.Mark].Where(IsSeen).Select(message => message.To).DefaultIfEmpty(end).Min();
                var earlier = byMark[running].Where(IsSeen).Select(message => message.To).DefaultIfEmpty(begin).Max();
                mixes.Add(earlier > later ? earlier - later : TimeSpan.Zero);

                bool IsSeen(HandledMessage message) => message.To >= begin && message.To < end;
            }

            if (exchange.IsDone)
                running = exchange.Mark;
        }

        return mixes;
    }

    private static int IndexOf(DateTimeOffset[] starts, DateTimeOffset moment)
    {
        var index = Array.BinarySearch(starts, moment);
        return index >= 0 ? index : ~index - 1;
    }
}
