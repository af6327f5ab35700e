-- unjank_queue_contention: waits of main threads for the lock of Android's MessageQueue, a row each.

INCLUDE PERFETTO MODULE unjank.contention;

CREATE OR REPLACE PERFETTO TABLE unjank_queue_contention AS
SELECT c.*, thread.upid
FROM unjank_contention c JOIN thread USING (utid)
WHERE
  c.is_main AND c.lock_name IS NULL
  AND (
    -- logcat's samples name the file alone
    c.site GLOB '*android.os.MessageQueue.*' OR c.site GLOB '(MessageQueue.java:*'
    OR c.owner_site GLOB '*android.os.MessageQueue.*' OR c.owner_site GLOB 'MessageQueue.java:*'
  )
ORDER BY c.ts;
