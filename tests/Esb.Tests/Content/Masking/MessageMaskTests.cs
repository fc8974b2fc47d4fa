using Esb.Content.Masking;
using Esb.Core.Audit;
using Esb.Core.Messages;

namespace Esb.Tests.Content.Masking;

public sealed class MessageMaskTests
{
    private const string Form = "application/x-www-form-urlencoded";
    private const string Secret = "hunter2-hunter2";

    private static readonly MaskConfig[] EveryFormat =
    [
        new() { Xpath = "//password", Action = MaskAction.Drop },
        new() { Jsonpath = "$..password", Action = MaskAction.Drop },
        new() { Form = "password", Action = MaskAction.Drop },
    ];

    [TestCase("user=a&password=hunter2-hunter2&x=1", "user=a&x=1")]
    [TestCase("password=hunter2-hunter2", "")]
    [TestCase("p%61ssword=hunter2-hunter2&x", "x")]
    [TestCase("PassWord=hunter2-hunter2&x=%20", "x=%20")]
    [TestCase("password=a&password=hunter2-hunter2", "")]
    public void Field_of_a_form_is_dropped_however_its_name_is_written(string body, string expected) =>
        Assert.That(SomeMasks.Of(EveryFormat).Apply(body, $"{Form}; charset=utf-8").Text(), Is.EqualTo(expected));

    [Test]
    public void Field_of_a_form_shows_its_last_four_characters() =>
        Assert.That(
            SomeMasks.Of(new MaskConfig { Form = "card*", Action = MaskAction.Last4 }).Apply("cardNumber=4111+1111&a=b", Form).Text(),
            Is.EqualTo("cardNumber=%2A%2A%2A%2A1111&a=b")
        );

    [TestCase("""{"password":"hunter2-hunter2"}""", Form, "{}", TestName = "JSON that is called a form")]
    [TestCase("<a><password>hunter2-hunter2</password></a>", "application/json", "<a />", TestName = "XML that is called JSON")]
    [TestCase("""{"password":"hunter2-hunter2"}""", "text/plain", "{}", TestName = "JSON that is called text")]
    [TestCase("""{"password":"hunter2-hunter2"}""", null, "{}", TestName = "JSON that is called nothing")]
    public void Bytes_decide_what_a_body_is(string body, string? contentType, string expected) =>
        Assert.That(SomeMasks.Of(EveryFormat).Apply(body, contentType).Text(), Is.EqualTo(expected));

    [TestCase("password: hunter2-hunter2", "text/plain")]
    [TestCase("password=hunter2-hunter2", "text/plain", TestName = "a form that is called text")]
    [TestCase("""{"a":1}&password=hunter2-hunter2""", Form, TestName = "a form that begins like JSON")]
    public void Body_that_nobody_can_read_is_withheld(string body, string contentType)
    {
        var masked = SomeMasks.Of(EveryFormat).Apply(body, contentType);

        Assert.That((masked.State, masked.Message.Body.Length), Is.EqualTo((AuditBodyState.Withheld, 0L)));
        Assert.That(
            masked.Secrets.Remove($"cannot read '{Secret}'"),
            Does.Not.Contain("hunter2"),
            "a text about it may quote any part of it"
        );
    }

    [Test]
    public void Body_that_nobody_has_read_yet_is_withheld_and_goes_on_streaming()
    {
        var message = Some.Message() with { Body = MessageBody.FromStream(new MemoryStream()) };

        Assert.That(SomeMasks.Of(EveryFormat).Apply(message).State, Is.EqualTo(AuditBodyState.Withheld));
        Assert.That(message.Body.IsBuffered, Is.False);
    }

    [Test]
    public void Empty_body_has_nothing_to_mask() =>
        Assert.That(SomeMasks.Of(EveryFormat).Apply("").State, Is.EqualTo(AuditBodyState.Whole));

    [Test]
    public void Headers_are_masked_by_name_whatever_its_case_and_bodies_left_alone()
    {
        var mask = SomeMasks.Of(
            new MaskConfig { Header = "X-Api-*", Action = MaskAction.Drop },
            new MaskConfig { Header = "x-card", Action = MaskAction.Last4 }
        );
        var message = Some.Message("no format at all") with
        {
            Headers = MessageHeaders.From([new("x-api-key", Secret), new("X-Card", "4111111111111111"), new("x-order", "A-1")]),
        };

        var masked = mask.Apply(message);

        Assert.That(
            masked.Message.Headers,
            Is.EquivalentTo(new KeyValuePair<string, string>[] { new("X-Card", "****1111"), new("x-order", "A-1") })
        );
        Assert.That(
            (masked.State, masked.Text()),
            Is.EqualTo((AuditBodyState.Masked, "no format at all")),
            "without its headers it is not the message any more"
        );
    }

    [Test]
    public void Text_that_quotes_what_is_masked_is_cleaned_of_it_in_any_writing()
    {
        var masked = SomeMasks.Of(EveryFormat).Apply("""{"password":"a<b&\"c\" d"}""");

        var text = masked.Secrets.Remove("""got a<b&"c" d, a&lt;b&amp;&quot;c&quot; d, a<b&\"c\" d and a%3Cb%26%22c%22%20d""");

        Assert.That(text, Is.EqualTo("got ****, ****, **** and ****"));
    }

    [Test]
    public void Short_secret_is_removed_only_where_it_stands_alone()
    {
        var masked = SomeMasks.Of(EveryFormat).Apply("""{"password":"12"}""");

        Assert.That(masked.Secrets.Remove("12 of 512, code '12', 12a"), Is.EqualTo("**** of 512, code '****', 12a"));
    }

    [Test]
    public void Body_is_masked_once_for_all_copies_of_its_message()
    {
        var mask = SomeMasks.Of(EveryFormat);
        var message = Some.Message("""{"password":"x"}""");

        Assert.That(mask.Apply(message with { Subject = "a.b" }).Message.Body, Is.SameAs(mask.Apply(message).Message.Body));
    }
}
