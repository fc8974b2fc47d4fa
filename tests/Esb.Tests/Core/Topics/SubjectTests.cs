using Esb.Core.Topics;

namespace Esb.Tests.Topics;

public sealed class SubjectTests
{
    [Test]
    [TestCase("orders", "orders")]
    [TestCase("orders.new", "orders")]
    [TestCase("a-b_c.1.x", "a-b_c")]
    public void The_first_part_of_a_subject_is_its_topic(string text, string topic) =>
        Assert.That(Subject.Parse(text)!.Topic, Is.EqualTo(topic));

    [Test]
    public void Anything_else_is_no_subject(
        [Values("", ".", "a.", ".a", "a..b", "a b", "a.*", "a.#", "größe", "a/b", "a\n")] string text
    ) => Assert.That(Subject.Parse(text), Is.Null);

    [Test]
    public void A_subject_fits_a_routing_key_of_255_bytes()
    {
        Assert.That(Subject.Parse(new string('a', 255)), Is.Not.Null);
        Assert.That(Subject.Parse(new string('a', 256)), Is.Null);
    }

    [Test]
    public void A_pattern_begins_with_its_topic([Values("*", "#", "#.a", "*.a", "a*", "a.b#", "a..#")] string text) =>
        Assert.That(SubjectPattern.Parse(text), Is.Null);

    // The semantics of a topic exchange: AMQP 0-9-1, section 3.1.3.3.
    [Test]
    [TestCase("orders", "orders", true)]
    [TestCase("orders", "orders.new", false)]
    [TestCase("orders.*", "orders", false)]
    [TestCase("orders.*", "orders.new", true)]
    [TestCase("orders.*", "orders.new.eu", false)]
    [TestCase("orders.#", "orders", true)]
    [TestCase("orders.#", "orders.new.eu", true)]
    [TestCase("orders.#", "orderss.new", false)]
    [TestCase("orders.#.eu", "orders.eu", true)]
    [TestCase("orders.#.eu", "orders.a.b.eu", true)]
    [TestCase("orders.#.eu", "orders.eu.a", false)]
    [TestCase("orders.#.eu", "orders.eu.a.eu", true)]
    [TestCase("orders.*.#", "orders", false)]
    [TestCase("orders.*.#", "orders.a", true)]
    [TestCase("orders.#.#", "orders", true)]
    [TestCase("orders.#.*", "orders", false)]
    [TestCase("orders.#.*.b", "orders.a.b", true)]
    [TestCase("orders.#.a.#.b", "orders.x.a.y.a.z.b", true)]
    [TestCase("orders.#.a.#.b", "orders.b.x.a", false)]
    [TestCase("Orders", "orders", false)]
    public void Patterns_match_as_on_a_broker(string pattern, string subject, bool matches) =>
        Assert.That(SubjectPattern.Parse(pattern)!.Matches(subject), Is.EqualTo(matches));

    [Test]
    public void Patterns_match_as_the_definition_says()
    {
        var random = new Random(20261121);
        for (var round = 0; round < 20_000; round++)
        {
            var pattern = "t." + string.Join('.', Parts(["a", "b", "*", "#"]));
            var subject = "t." + string.Join('.', Parts(["a", "b"]));

            Assert.That(
                SubjectPattern.Parse(pattern)!.Matches(subject),
                Is.EqualTo(Defined(pattern.Split('.'), subject.Split('.'))),
                $"{pattern} on {subject}"
            );
        }

        string[] Parts(string[] from) => random.GetItems(from, random.Next(1, 7));
    }

    [Test, CancelAfter(30_000)]
    public void Many_hashes_cost_no_more_than_a_moment()
    {
        var pattern = SubjectPattern.Parse("t" + string.Concat(Enumerable.Repeat(".#.a", 30)) + ".b")!;

        Assert.That(pattern.Matches("t" + string.Concat(Enumerable.Repeat(".a", 120))), Is.False);
    }

    [Test]
    public void Patterns_overlap_where_a_subject_matches_both()
    {
        var random = new Random(20261128);
        IReadOnlyList<string> subjects = [.. Enumerable.Range(0, 8).SelectMany(length => SubjectsOf(length))];
        for (var round = 0; round < 2_000; round++)
        {
            var (one, other) = (Pattern(), Pattern());

            Assert.That(
                one.Overlaps(other),
                Is.EqualTo(subjects.Any(subject => one.Matches(subject) && other.Matches(subject))),
                $"{one} and {other}"
            );
        }

        SubjectPattern Pattern() =>
            SubjectPattern.Parse("t." + string.Join('.', random.GetItems(["a", "b", "*", "#"], random.Next(1, 5))))!;

        static IEnumerable<string> SubjectsOf(int length) =>
            length == 0 ? ["t"] : SubjectsOf(length - 1).SelectMany(subject => new[] { $"{subject}.a", $"{subject}.b" });
    }

    [Test]
    public void Patterns_of_the_same_text_are_equal()
    {
        var (one, same) = (SubjectPattern.Parse("a.#")!, SubjectPattern.Parse("a.#")!);

        Assert.That(one, Is.EqualTo(same));
        Assert.That(one.GetHashCode(), Is.EqualTo(same.GetHashCode()));
        Assert.That(one, Is.Not.EqualTo(SubjectPattern.Parse("a.*")));
    }

    private static bool Defined(ReadOnlySpan<string> pattern, ReadOnlySpan<string> subject)
    {
        if (pattern.IsEmpty)
            return subject.IsEmpty;
        if (pattern[0] == "#")
            return Defined(pattern[1..], subject) || (!subject.IsEmpty && Defined(pattern, subject[1..]));
        return !subject.IsEmpty && (pattern[0] == "*" || pattern[0] == subject[0]) && Defined(pattern[1..], subject[1..]);
    }
}
