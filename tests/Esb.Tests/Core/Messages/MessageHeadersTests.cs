using Esb.Core.Messages;

namespace Esb.Tests.Messages;

public sealed class MessageHeadersTests
{
    private static readonly MessageHeaders Headers = MessageHeaders.Empty.With("x-a", "1").With("x-b", "2");

    [Test]
    public void A_header_is_found_whatever_its_case()
    {
        Assert.That((Headers["X-A"], Headers["x-c"]), Is.EqualTo(("1", (string?)null)));
        Assert.That(Headers.TryGet("X-B", out var value), Is.True);
        Assert.That(value, Is.EqualTo("2"));
    }

    [Test]
    public void A_change_makes_a_copy()
    {
        var changed = Headers.With("X-A", "3");
        var without = Headers.Without("X-b");

        Assert.That(Pairs(Headers), Is.EqualTo(["x-a=1", "x-b=2"]));
        Assert.That(Pairs(changed), Is.EqualTo(["X-A=3", "x-b=2"]));
        Assert.That(Pairs(without), Is.EqualTo(["x-a=1"]));
    }

    [Test]
    public void Taking_away_what_is_not_there_copies_nothing() => Assert.That(Headers.Without("x-c"), Is.SameAs(Headers));

    [Test, Property("Case", "HDR-07")]
    public void Values_of_one_name_are_joined_as_HTTP_joins_them()
    {
        var headers = MessageHeaders.From([new("x-a", "1"), new("x-b", "2"), new("X-A", "3")]);

        Assert.That(Pairs(headers), Is.EqualTo(["x-a=1, 3", "x-b=2"]));
    }

    [Test]
    public void No_headers_are_always_the_same() => Assert.That(MessageHeaders.From([]), Is.SameAs(MessageHeaders.Empty));

    private static IEnumerable<string> Pairs(MessageHeaders headers) => headers.Select(header => $"{header.Key}={header.Value}");
}
