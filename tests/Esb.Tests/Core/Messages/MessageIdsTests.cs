using Esb.Core.Messages;

namespace Esb.Tests.Messages;

public sealed class MessageIdsTests
{
    private static readonly Guid Origin = new("01890a5d-ac96-774b-bcce-b302099a8057");

    // Ids are in databases and on brokers: a version that makes others would not recognise a repetition.
    [Test]
    public void Ids_stay_what_they_are_from_version_to_version() =>
        Assert.Multiple(() =>
        {
            Assert.That(MessageIds.Derive(Origin, "processes.p[0].publish"), Is.EqualTo(new Guid("e2dff29e-2370-8e82-ae38-a310bdf4938b")));
            Assert.That(MessageIds.FromForeign("order-1", "orders"), Is.EqualTo(new Guid("4a7b3702-805f-8520-8c41-1374591c4915")));
        });

    [Test]
    public void A_derived_id_differs_by_origin_and_step_and_is_no_version_7()
    {
        var derived = MessageIds.Derive(Origin, "a");

        Assert.Multiple(() =>
        {
            Assert.That(derived, Is.EqualTo(MessageIds.Derive(Origin, "a")));
            Assert.That(derived, Is.Not.EqualTo(MessageIds.Derive(Origin, "b")));
            Assert.That(derived, Is.Not.EqualTo(MessageIds.Derive(derived, "a")));
            Assert.That((derived.Version, derived.Variant & 0xC), Is.EqualTo((8, 8)));
        });
    }

    [Test]
    public void Steps_that_differ_only_far_behind_make_different_ids()
    {
        var place = new string('x', 500);

        Assert.That(MessageIds.Derive(Origin, place + "a"), Is.Not.EqualTo(MessageIds.Derive(Origin, place + "b")));
    }

    [Test]
    public void A_foreign_UUID_is_kept_and_anything_else_becomes_one_of_its_topic()
    {
        Assert.Multiple(() =>
        {
            Assert.That(MessageIds.FromForeign(Origin.ToString(), "orders"), Is.EqualTo(Origin));
            Assert.That(MessageIds.FromForeign("1", "orders"), Is.Not.EqualTo(MessageIds.FromForeign("1", "invoices")));
            Assert.That(MessageIds.FromForeign("1", "orders"), Is.Not.EqualTo(MessageIds.FromForeign("2", "orders")));
            Assert.That(MessageIds.FromForeign("", "orders"), Is.Not.EqualTo(Guid.Empty));
        });
    }
}
