using System.Net;
using System.Text;
using System.Text.Encodings.Web;
using System.Text.Json;
using System.Xml;
using Esb.Content.Masking;
using FsCheck;
using FsCheck.Fluent;

namespace Esb.Tests.Content.Masking;

/// <summary>Whatever a secret is and wherever it stands, nothing of what is recorded contains it.</summary>
public sealed class MaskPropertyTests
{
    private static readonly Gen<string> Secrets =
        from characters in Gen.Elements([.. "abcXYZ0189 <>&\"'\\/{}[]=+%-äß€\n\t😀".EnumerateRunes().Select(rune => rune.ToString())])
            .ListOf()
        where characters.Count is >= 6 and <= 40
        select $"k{string.Concat(characters)}q8"; // of at least nine characters, of which four may be shown, and without blanks around it

    [Test]
    public void Xml_never_contains_the_secret() =>
        Check(
            (secret, action) =>
            {
                var text = new StringBuilder();
                using (
                    var writer = XmlWriter.Create(
                        text,
                        new XmlWriterSettings { OmitXmlDeclaration = true, NewLineHandling = NewLineHandling.Entitize }
                    )
                )
                {
                    writer.WriteStartElement("o");
                    writer.WriteElementString("card", secret);
                    writer.WriteStartElement("card");
                    writer.WriteAttributeString("number", secret);
                    writer.WriteCData(secret);
                    writer.WriteString(secret);
                    writer.WriteEndElement();
                }

                return SomeMasks.Xpath("//card|//card/@*", action).Apply(text.ToString()).Text();
            }
        );

    [Test]
    public void Json_never_contains_the_secret() =>
        Check(
            (secret, action) =>
            {
                var body = JsonSerializer.Serialize(
                    new { card = secret, list = new object[] { new { card = secret }, new { card = new[] { secret } } } }
                );
                return SomeMasks.Jsonpath("$..card", action).Apply(body).Text();
            }
        );

    [Test]
    public void Form_never_contains_the_secret() =>
        Check(
            (secret, action) =>
                SomeMasks
                    .Of(new MaskConfig { Form = "card", Action = action })
                    .Apply(
                        $"a=1&card={Uri.EscapeDataString(secret)}&card={WebUtility.UrlEncode(secret)}",
                        "application/x-www-form-urlencoded"
                    )
                    .Text()
        );

    [Test]
    public void Text_about_a_message_never_contains_the_secret() =>
        Check(
            (secret, action) =>
            {
                var masked = SomeMasks.Jsonpath("$.card", action).Apply(JsonSerializer.Serialize(new { card = secret }));
                return masked.Secrets.Remove(
                    $"The value {secret} ({JavaScriptEncoder.Default.Encode(secret)}, {WebUtility.HtmlEncode(secret)}) does not fit."
                );
            }
        );

    private static void Check(Func<string, MaskAction, string> record) =>
        Prop.ForAll(
                Secrets.ToArbitrary(),
                secret =>
                {
                    foreach (var action in Enum.GetValues<MaskAction>())
                    {
                        var recorded = record(secret, action);
                        foreach (
                            var written in (string[])
                                [
                                    secret,
                                    JavaScriptEncoder.Default.Encode(secret),
                                    JavaScriptEncoder.UnsafeRelaxedJsonEscaping.Encode(secret),
                                    WebUtility.HtmlEncode(secret),
                                    Uri.EscapeDataString(secret),
                                ]
                        )
                            Assert.That(recorded, Does.Not.Contain(written), action.ToString());
                    }

                    return true;
                }
            )
            .QuickCheckThrowOnFailure();
}
