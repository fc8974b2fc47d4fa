using Esb.Core.Messages;

namespace Esb.Tests.Messages;

public sealed class HeaderRulesTests
{
    private static readonly HeaderRules Everything = new(["*"]);

    [Property("Case", "HDR-01"), Property("Case", "HDR-02"), Property("Case", "HDR-03")]
    [TestCase("esb-key")]
    [TestCase("ESB-Conversation")]
    [TestCase("eSb-anything")]
    [TestCase("MT-Host-Info")]
    [TestCase("mt-fault-address")]
    [TestCase("CC")]
    [TestCase("bcc")]
    [TestCase("x-death")]
    [TestCase("X-First-Death-Queue")]
    [TestCase("x-delivery-count")]
    [TestCase("x-dotnet-pub-seq-no")]
    public void A_reserved_header_is_dropped_and_counted_whatever_the_list_allows(string name)
    {
        var admitted = Everything.Admit([new(name, "1"), new("x-order", "2")], out var reserved);

        Assert.That(admitted.Select(header => header.Key), Is.EqualTo(["x-order"]));
        Assert.That(reserved, Is.EqualTo(1));
    }

    [Property("Case", "HDR-05")]
    [TestCase("two words")]
    [TestCase("colon:")]
    [TestCase("line\r\nbreak")]
    [TestCase("größe")]
    [TestCase("")]
    public void A_name_that_is_no_token_is_dropped(string name)
    {
        Assert.That(Everything.Admit([new(name, "1")], out var reserved), Is.Empty);
        Assert.That(reserved, Is.Zero);
    }

    [Test, Property("Case", "HDR-05")]
    public void A_name_may_be_256_characters_long()
    {
        Assert.That(Everything.Allows(new string('x', 256)), Is.True);
        Assert.That(Everything.Allows(new string('x', 257)), Is.False);
    }

    [Property("Case", "HDR-06")]
    [TestCase("a\r\nb")]
    [TestCase("a\nb")]
    [TestCase("a\0b")]
    public void A_value_that_would_begin_a_line_of_its_own_is_dropped(string value) =>
        Assert.That(Everything.Admit([new("x-a", value)], out _), Is.Empty);

    [Test]
    public void A_value_may_hold_a_tab() => Assert.That(Everything.Admit([new("x-a", "a\tb")], out _)["x-a"], Is.EqualTo("a\tb"));

    [Test]
    [TestCase("X-Order", true)]
    [TestCase("x-", true)]
    [TestCase("Authorization", false)]
    [TestCase("Content-Type", false)]
    [TestCase("X-Forwarded-User", false)]
    [TestCase("X-Real-IP", false)]
    [TestCase("X-Original-URL", false)]
    [TestCase("X-Rewrite-URL", false)]
    [TestCase("X-HTTP-Method-Override", false)]
    [TestCase("X-Remote-User", false)]
    [TestCase("X-Auth-Request-User", false)]
    [TestCase("X-User-Id", false)]
    [TestCase("X-Envoy-Internal", false)]
    [TestCase("X-Amzn-Oidc-Data", false)]
    public void By_default_only_what_begins_with_x_passes(string name, bool passes) =>
        Assert.That(new HeaderRules(HeaderRules.DefaultPatterns).Allows(name), Is.EqualTo(passes));

    [TestCase("*", false)]
    [TestCase("x-*", false)]
    [TestCase("X-Forwarded-User", true)]
    [TestCase("x-forwarded-*", true)]
    [TestCase("x-real-ip", false)]
    public void What_servers_believe_of_their_gateway_passes_only_where_it_is_named(string pattern, bool passes) =>
        Assert.That(new HeaderRules([pattern]).Allows("X-Forwarded-User"), Is.EqualTo(passes));

    [Test]
    public void A_pattern_without_a_star_is_a_whole_name()
    {
        var rules = new HeaderRules(["Accept-Language"]);

        Assert.That(
            (rules.Allows("accept-language"), rules.Allows("accept-language-x"), rules.Allows("accept")),
            Is.EqualTo((true, false, false))
        );
    }

    [Test]
    public void Headers_are_measured_in_bytes() => Assert.That(HeaderRules.Measure(MessageHeaders.Empty.With("x-a", "ä")), Is.EqualTo(5));
}
