using System.Xml.Linq;
using Esb.Content.Schemas;
using Esb.Content.Transforms;
using Esb.Core.Configuration;
using Esb.Core.Errors;
using Esb.Core.Expressions;
using Esb.Core.Messages;

namespace Esb.Tests.Content;

/// <summary>The map, the schema and the conditions of <c>samples/orders</c> on its messages.</summary>
public sealed class OrdersSampleTests
{
    private static readonly string Sample = SomeContent.RepositoryFolder("samples/orders");

    private ConfiguredContent _content = null!;

    [SetUp]
    public void Configure() =>
        _content = SomeContent.Configure(
            """{ "schemas": { "order": "schemas/order.xsd" }, "maps": { "legacy-to-order": "maps/legacy-to-order.xsl" } }""",
            ("schemas/order.xsd", File.ReadAllText(Path.Combine(Sample, "schemas/order.xsd"))),
            ("maps/legacy-to-order.xsl", File.ReadAllText(Path.Combine(Sample, "maps/legacy-to-order.xsl")))
        );

    [TearDown]
    public void Remove() => _content.Dispose();

    [Test]
    public void A_legacy_order_becomes_an_order_that_passes_the_schema()
    {
        var order = _content.Get<IMapCatalog>().Find("legacy-to-order")!.Transform(Read("legacy-order.xml")).Body;

        Assert.That(
            XNode.DeepEquals(
                XElement.Parse(order.ReadText()),
                XElement.Parse(
                    """<order id="L-77"><customer>Hill School</customer><line sku="TEA-1" quantity="1"/><total>9.95</total></order>"""
                )
            ),
            Is.True,
            order.ReadText
        );
        Assert.That(() => Schema.Validate(Some.Message() with { Body = order }), Throws.Nothing);
    }

    [Test]
    public void A_broken_order_is_invalid_with_line_and_column()
    {
        var error = Assert.Throws<EsbException>(() => Schema.Validate(Some.Message() with { Body = Read("broken-order.xml") }))!;

        Assert.That(error.Code, Is.EqualTo("ESB-XML-SCHEMA"));
        Assert.That(Faults.StatusOf(error.Kind), Is.EqualTo(422));
        Assert.That(error.Message, Does.Contain("line 1, column 53"));
    }

    [TestCase("order.xml", false)]
    [TestCase("large-order.xml", true)]
    public void Good_orders_pass_and_large_ones_go_to_review(string file, bool isLarge)
    {
        var message = Some.Message() with { Body = Read(file) };
        var isForReview = _content.Expressions.Compile(new ConditionConfig { Xpath = "/order/total > 1000" }, new ConfigErrors())!;

        Assert.That(() => Schema.Validate(message), Throws.Nothing);
        Assert.That(isForReview.Holds(Some.Context(message)), Is.EqualTo(isLarge));
    }

    private IMessageSchema Schema => _content.Get<ISchemaCatalog>().Find("order")!;

    private static MessageBody Read(string file) => MessageBody.FromBytes(File.ReadAllBytes(Path.Combine(Sample, "messages", file)));
}
