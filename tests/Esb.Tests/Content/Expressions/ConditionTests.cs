using Esb.Core.Configuration;
using Esb.Core.Expressions;
using Esb.Core.Messages;
using FsCheck;
using FsCheck.Fluent;

namespace Esb.Tests.Content.Expressions;

public sealed class ConditionTests
{
    private const string Order = "<order id='A-1' isGift='false'><customer>Blue Cafe</customer><total>1000.50</total><note/></order>";

    [TestCase("/order", true)]
    [TestCase("/legacyOrder", false)]
    [TestCase("/order/total > 1000", true)]
    [TestCase("/order/total > 2000", false)]
    [TestCase("/order/customer = 'Blue Cafe'", true)]
    [TestCase("/order/note", true, TestName = "A node-set holds when it has a node, even an empty one")]
    [TestCase("string(/order/note)", false)]
    [TestCase("string(/order/customer)", true)]
    [TestCase("count(//line)", false)]
    [TestCase("number(/order/customer)", false, TestName = "Not a number is false")]
    [Property("Case", "XPT-04")]
    [TestCase("/order/@isGift", true, TestName = "XPath looks whether there is a node, not what it says")]
    public void An_XPath_alone_holds_as_XPath_says(string xpath, bool expected)
    {
        Assert.That(Holds(new ConditionConfig { Xpath = xpath }, Order), Is.EqualTo(expected));
    }

    [Test]
    public void The_first_of_several_orders_is_compared()
    {
        var body = "<orders><order><symbol>IBM</symbol></order><order><symbol>MSFT</symbol></order></orders>";

        Assert.That(Holds(new ConditionConfig { Xpath = "//order[1]/symbol = 'IBM'" }, body), Is.True);
        Assert.That(Holds(new ConditionConfig { Xpath = "//order[1]/symbol = 'MSFT'" }, body), Is.False);
    }

    [TestCase("$.a", true)]
    [TestCase("$.zero", true)]
    [TestCase("$.empty", true)]
    [TestCase("$.no", false)]
    [TestCase("$.nothing", false)]
    [TestCase("$.missing", false)]
    public void Another_value_alone_holds_when_it_exists_and_is_not_false(string jsonpath, bool expected)
    {
        Assert.That(
            Holds(new ConditionConfig { Jsonpath = jsonpath }, """{"a": 1, "zero": 0, "empty": "", "no": false, "nothing": null}"""),
            Is.EqualTo(expected)
        );
    }

    [Test]
    public void A_header_that_says_false_does_not_hold()
    {
        var message = Some.Message() with { Headers = MessageHeaders.Empty.With("x-flag", "false") };

        Assert.That(Compile(new ConditionConfig { Header = "x-flag" }).Holds(Some.Context(message)), Is.False);
    }

    [TestCase("1000.50", 1000.5, true)]
    [TestCase("1000.50", 1000, false)]
    [TestCase("A-1", "A-1", true)]
    [TestCase("A-1", "a-1", false)]
    [TestCase("007", "7", false, TestName = "Texts are equal letter by letter")]
    [TestCase("007", 7, true, TestName = "A text that is a number equals the number")]
    [TestCase("true", true, true)]
    [TestCase("abc", 7, false)]
    public void Equality(string value, object constant, bool expected)
    {
        var equals = new ConditionConfig { Header = "x", EqualTo = SomeContent.Constant(constant) };
        var differs = new ConditionConfig { Header = "x", NotEqualTo = SomeContent.Constant(constant) };

        Assert.That(HoldsFor(equals, value), Is.EqualTo(expected));
        Assert.That(HoldsFor(differs, value), Is.EqualTo(!expected));
    }

    [Test]
    public void Large_numbers_are_compared_to_the_last_digit()
    {
        var condition = new ConditionConfig { Jsonpath = "$", EqualTo = SomeContent.Constant(9007199254740992.0) };

        Assert.That(Holds(condition, "9007199254740993"), Is.False);
        Assert.That(Holds(condition, "9007199254740992"), Is.True);
    }

    [TestCase("9", "10", -1, TestName = "Numbers are ordered as numbers, also as text")]
    [TestCase("10.0", "10", 0)]
    [TestCase("-1", "0", -1)]
    [TestCase("apple", "banana", -1)]
    [TestCase("2026-02-01", "2026-01-31", 1)]
    public void Order_of_texts(string value, string constant, int expected)
    {
        var node = SomeContent.Constant(constant);

        Assert.That(HoldsFor(new ConditionConfig { Header = "x", GreaterThan = node }, value), Is.EqualTo(expected > 0));
        Assert.That(HoldsFor(new ConditionConfig { Header = "x", AtLeast = node }, value), Is.EqualTo(expected >= 0));
        Assert.That(HoldsFor(new ConditionConfig { Header = "x", LessThan = node }, value), Is.EqualTo(expected < 0));
        Assert.That(HoldsFor(new ConditionConfig { Header = "x", AtMost = node }, value), Is.EqualTo(expected <= 0));
    }

    [Test]
    public void A_number_and_a_word_have_no_order()
    {
        Assert.That(HoldsFor(new ConditionConfig { Header = "x", GreaterThan = SomeContent.Constant(5) }, "much"), Is.False);
        Assert.That(HoldsFor(new ConditionConfig { Header = "x", AtMost = SomeContent.Constant(5) }, "much"), Is.False);
    }

    [Test]
    public void Points_in_time_are_ordered_by_time()
    {
        var context = Some.Context(Some.Message() with { CreatedAt = new DateTimeOffset(2026, 5, 1, 0, 30, 0, TimeSpan.Zero) });

        var later = new ConditionConfig
        {
            Message = MessagePart.CreatedAt,
            GreaterThan = SomeContent.Constant("2026-05-01T02:00:00+02:00"),
        };

        Assert.That(Compile(later).Holds(context), Is.True);
    }

    [TestCase("orders-7", "^orders-[0-9]+$", true)]
    [TestCase("orders-x", "^orders-[0-9]+$", false)]
    [TestCase("my orders-7 too", "orders-[0-9]", true)]
    public void A_regular_expression_is_searched(string value, string pattern, bool expected)
    {
        Assert.That(HoldsFor(new ConditionConfig { Header = "x", Matches = pattern }, value), Is.EqualTo(expected));
    }

    [Test, CancelAfter(30_000), Property("Case", "XPT-12")]
    public void A_pattern_that_would_backtrack_for_ever_does_not()
    {
        Assert.That(HoldsFor(new ConditionConfig { Header = "x", Matches = "^(a+)+$" }, new string('a', 50_000) + "b"), Is.False);
    }

    [Test]
    public void A_beginning_a_membership_and_an_existence()
    {
        var beginning = new ConditionConfig { Header = "x", StartsWith = "ord" };
        var membership = new ConditionConfig { Header = "x", In = [SomeContent.Constant("a"), SomeContent.Constant(7)] };
        var existence = new ConditionConfig { Header = "x", Exists = true };
        var absence = new ConditionConfig { Header = "x", Exists = false };

        Assert.That(new[] { "orders", "Orders" }.Select(value => HoldsFor(beginning, value)), Is.EqualTo(new[] { true, false }));
        Assert.That(new[] { "a", "7.0", "b" }.Select(value => HoldsFor(membership, value)), Is.EqualTo(new[] { true, true, false }));
        Assert.That(new[] { "", null }.Select(value => HoldsFor(existence, value)), Is.EqualTo(new[] { true, false }));
        Assert.That(new[] { "", null }.Select(value => HoldsFor(absence, value)), Is.EqualTo(new[] { false, true }));
    }

    [Test]
    public void Only_inequality_holds_where_there_is_no_value()
    {
        var constant = SomeContent.Constant("a");
        ConditionConfig[] conditions =
        [
            new() { Header = "x", NotEqualTo = constant },
            new() { Header = "x", EqualTo = constant },
            new() { Header = "x", In = [constant] },
            new() { Header = "x", GreaterThan = constant },
            new() { Header = "x", AtLeast = constant },
            new() { Header = "x", LessThan = constant },
            new() { Header = "x", AtMost = constant },
            new() { Header = "x", Matches = "" },
            new() { Header = "x", StartsWith = "" },
        ];

        Assert.That(
            conditions.Select(condition => HoldsFor(condition, null)),
            Is.EqualTo(Enumerable.Range(0, conditions.Length).Select(i => i == 0))
        );
    }

    [TestCase("' or '1'='1")]
    [TestCase("\"] | //* | a[\"")]
    [TestCase("x' and contains(., \"x")]
    [Property("Case", "XPT-08")]
    public void Quotes_in_what_is_compared_are_text_on_both_sides(string hostile)
    {
        var written = System.Security.SecurityElement.Escape(hostile);

        Assert.That(HoldsFor(new ConditionConfig { Header = "x", EqualTo = SomeContent.Constant("gold") }, hostile), Is.False);
        Assert.That(
            Holds(
                new ConditionConfig { Xpath = "/order/type", EqualTo = SomeContent.Constant(hostile) },
                "<order><type>gold</type></order>"
            ),
            Is.False
        );
        Assert.That(Holds(new ConditionConfig { Xpath = "/order/type = 'gold'" }, $"<order><type>{written}</type></order>"), Is.False);
        Assert.That(
            Holds(
                new ConditionConfig { Xpath = "/order/type", EqualTo = SomeContent.Constant(hostile) },
                $"<order><type>{written}</type></order>"
            ),
            Is.True
        );
    }

    [Test]
    public void A_SOAP_header_decides_before_the_body_comes()
    {
        var errors = new ConfigErrors();
        var condition = SomeContent
            .Compiler(("s", "http://schemas.xmlsoap.org/soap/envelope/"), ("r", "urn:routes"))
            .Compile(new ConditionConfig { Xpath = "/s:Envelope/s:Header[1]/r:to[1] = 'east'" }, errors)!;
        string Envelope(string to) =>
            $"<e:Envelope xmlns:e='http://schemas.xmlsoap.org/soap/envelope/'><e:Header><to "
            + $"xmlns='urn:routes'>{to}</to></e:Header><e:Body><broken";

        Assert.That(new[] { "east", "west" }.Select(to => condition.Holds(Some.Context(Envelope(to)))), Is.EqualTo(new[] { true, false }));
    }

    [Test]
    public void Conditions_are_joined()
    {
        var yes = new ConditionConfig { Value = SomeContent.Constant(true) };
        var no = new ConditionConfig { Not = yes };

        Assert.That(HoldsFor(no, null), Is.False);
        Assert.That(HoldsFor(new ConditionConfig { All = [yes, no] }, null), Is.False);
        Assert.That(HoldsFor(new ConditionConfig { All = [yes, yes] }, null), Is.True);
        Assert.That(HoldsFor(new ConditionConfig { Any = [no, yes] }, null), Is.True);
        Assert.That(HoldsFor(new ConditionConfig { Any = [no, no] }, null), Is.False);
        Assert.That(HoldsFor(new ConditionConfig { All = [] }, null), Is.True);
        Assert.That(HoldsFor(new ConditionConfig { Any = [] }, null), Is.False);
    }

    [Test]
    public void Joined_conditions_read_the_body_when_one_of_them_does()
    {
        var header = new ConditionConfig { Header = "x" };
        var body = new ConditionConfig { Xpath = "/a" };

        Assert.That(Compile(new ConditionConfig { All = [header, body] }).ReadsBody, Is.True);
        Assert.That(Compile(new ConditionConfig { Any = [header, new ConditionConfig { Not = body }] }).ReadsBody, Is.True);
        Assert.That(Compile(new ConditionConfig { Any = [header, header] }).ReadsBody, Is.False);
    }

    [Test]
    public void All_errors_of_a_condition_are_reported_together()
    {
        var errors = new ConfigErrors();
        var condition = new ConditionConfig
        {
            Any =
            [
                new ConditionConfig { Xpath = "/a[", Path = "first" },
                new ConditionConfig
                {
                    Header = "x",
                    Matches = "(?=a)",
                    Path = "second",
                },
                new ConditionConfig
                {
                    Header = "x",
                    GreaterThan = new ConfigNode(ConfigKind.Null, "third.greaterThan", ConfigOrigin.Default),
                },
            ],
        };

        var compiled = SomeContent.Compiler().Compile(condition, errors);

        Assert.That(compiled, Is.Null);
        Assert.That(
            errors.All.Select(error => (error.Code, error.Path)),
            Is.EqualTo(
                new[] { ("ESB-XPT-SYNTAX", "first.xpath"), ("ESB-EXPR-REGEX", "second.matches"), ("ESB-CFG-TYPE", "third.greaterThan") }
            )
        );
    }

    [Test]
    public void Numbers_are_ordered_the_same_whether_typed_or_written() =>
        Prop.ForAll<int, int>(
                (left, right) =>
                {
                    var isLess = new ConditionConfig { Header = "x", LessThan = SomeContent.Constant(right) };
                    var isLessThanText = new ConditionConfig { Header = "x", LessThan = SomeContent.Constant($"{right}") };

                    return HoldsFor(isLess, $"{left}") == left < right && HoldsFor(isLessThanText, $"{left}") == left < right;
                }
            )
            .QuickCheckThrowOnFailure();

    private static bool HoldsFor(ConditionConfig condition, string? header)
    {
        var message = Some.Message();
        return Compile(condition)
            .Holds(Some.Context(header is null ? message : message with { Headers = MessageHeaders.Empty.With("x", header) }));
    }

    private static bool Holds(ConditionConfig condition, string body) => Compile(condition).Holds(Some.Context(body));

    private static IMessageCondition Compile(ConditionConfig condition)
    {
        var errors = new ConfigErrors();
        var compiled = SomeContent.Compiler().Compile(condition, errors);
        Assert.That(errors.All, Is.Empty);
        return compiled!;
    }
}
